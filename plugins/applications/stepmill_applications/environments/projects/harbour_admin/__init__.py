"""The project of Django's admin: berths, ships and calls to keep."""
