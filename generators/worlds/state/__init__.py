"""The state of a world: its database, its forms, how values are written, who may do what."""
