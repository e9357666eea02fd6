"""Applications that Debian ships, as sites: how they are installed, seeded and read, and tasks for them."""
