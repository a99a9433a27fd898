"""`vancectl processes`: what was started, how it stands, what it says, and its end."""
