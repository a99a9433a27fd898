"""Which recipe: trigger phrases first, then one model call."""
