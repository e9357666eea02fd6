"""Projects of Django's: its own admin, and the pages of Wagtail."""
