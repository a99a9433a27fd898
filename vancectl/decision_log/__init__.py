"""What was decided, kept for a look back."""
