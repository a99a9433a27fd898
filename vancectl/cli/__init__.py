"""Words in, text out: the command line."""
