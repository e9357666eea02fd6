"""The migrations of the harbour's pages."""
