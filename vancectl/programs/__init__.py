"""Other programs: found, started with what they may see, and held to limits."""
