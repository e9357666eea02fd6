"""What an attempt is asked to do, what it is judged by, and one way to do it."""
