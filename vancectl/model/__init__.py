"""What is asked of a model, whatever answers."""
