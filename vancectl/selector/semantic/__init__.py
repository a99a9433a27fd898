"""Stage two: one question to a model, and its answer checked."""
