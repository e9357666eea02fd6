"""Dialects: how one model family is prompted and how its reply is understood, one file a family."""
