"""Which recipes a model is shown."""
