"""Templates in prompts and plans, rendered within limits."""
