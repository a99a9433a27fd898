"""How a task was decided, and why not otherwise."""
