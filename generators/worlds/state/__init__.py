"""The state of a world: its database, forms, display of values, and permissions."""
