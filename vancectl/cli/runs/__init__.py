"""Runs over many things, shared by the commands that start them."""
