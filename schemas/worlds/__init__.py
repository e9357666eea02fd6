"""The specification of a generated website."""
