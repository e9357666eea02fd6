"""Clients of Stepmill's seats for the environments of trainers and agents; nothing here needs Stepmill."""
