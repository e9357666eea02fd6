"""Gradio: an app of components that Python programs build, and whose answers come as streams."""
