"""The server of all worlds: visits, views and what changes the state."""
