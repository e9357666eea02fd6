"""What a run's trajectories become for other programs: one file a format, all written one way.

A format turns one episode at a time into lines and files and knows nothing of folders; `export`
reads the episodes of a version a bounded piece at a time and writes what they become. Storage
knows no model's dialect, so whoever asks for `chat` hands its renderer over.
"""
