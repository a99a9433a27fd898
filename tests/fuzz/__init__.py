"""Random bad input for every reader, through the command: `python -m tests.fuzz --seed N --seconds 300`."""
