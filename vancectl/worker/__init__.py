"""The worker: runs a recipe through the Messages API, for whoever has no agent program at hand."""
