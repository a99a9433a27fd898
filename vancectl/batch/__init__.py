"""Many tasks, one decision each."""
