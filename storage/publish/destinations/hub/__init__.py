"""A dataset repository on the Hugging Face Hub as a destination."""
