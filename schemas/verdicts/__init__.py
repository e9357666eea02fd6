"""The findings of verifiers, and the acceptance of attempts by them."""
