"""Settings: every value with its source, and what only the tenant may say."""
