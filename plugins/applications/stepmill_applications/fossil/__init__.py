"""The application fossil: tickets, a wiki and a forum in one SQLite file."""
