"""Many delegations from one file."""
