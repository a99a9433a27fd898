"""What happens after the decision: fallback, applied recipe, process."""
