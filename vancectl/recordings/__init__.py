"""Answers of a model, kept so that CI decides without one."""
