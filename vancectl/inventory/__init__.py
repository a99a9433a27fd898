"""What lies on disk: layers, recipes, the engine catalog."""
