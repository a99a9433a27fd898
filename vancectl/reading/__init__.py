"""YAML read safely, each value with its place, and what is wrong with it in words."""
