"""Routing tests: cases with the recipe that each task should get, judged without a key and without a network."""
