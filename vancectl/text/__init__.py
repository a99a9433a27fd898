"""Text as others wrote it and as it may be shown: decoded strictly, printed harmlessly."""
