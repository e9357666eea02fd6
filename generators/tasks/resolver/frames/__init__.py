"""Frames: the sorts of requests that goals make, each with the words and mentions that it needs."""
