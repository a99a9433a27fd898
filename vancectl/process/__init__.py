"""Started programs: the command, its supervision and its record."""
