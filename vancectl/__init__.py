"""Decides from plain words which recipe an agent should run, says why, and starts it."""

__version__ = "0.1.0"
