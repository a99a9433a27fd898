"""From request to start: decision, fallback, applied recipe."""
