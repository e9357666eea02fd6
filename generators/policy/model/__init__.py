"""Policies that use a model: conversation, context window, calls, repair, the surfer's roles."""
