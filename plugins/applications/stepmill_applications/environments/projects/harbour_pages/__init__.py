"""The project of Wagtail: the harbour's pages."""
