"""Recipes of other programs (agents, skills, commands, patterns), read in place as their own program reads them."""
