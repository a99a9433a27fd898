"""What can be told of a library of recipes as a whole, before any task comes: rules beyond each file's schema."""
