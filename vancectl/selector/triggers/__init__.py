"""Stage one: trigger phrases."""
