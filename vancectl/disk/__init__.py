"""Where files belong, and how they are read and written without harm."""
