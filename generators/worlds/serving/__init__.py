"""The server of all worlds: visits, views and changes of state."""
