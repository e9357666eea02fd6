"""Verifiers, which examine finished episodes, and the panel that runs them in order."""
