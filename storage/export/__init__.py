"""The export of a run's trajectories in the formats of other programs, one module for each format.

A format turns one episode at a time into lines and files and does not access folders; `export` reads the
episodes of a version in pieces of bounded size and writes the lines and files. Storage depends on no
dialect, so a caller that exports `chat` passes a renderer.
"""
