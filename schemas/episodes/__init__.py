"""What an attempt saw, did and cost."""
