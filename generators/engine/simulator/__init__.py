"""An OpenAI-compatible server that needs no model: for tests, demos and documentation.

It decodes a picture only where the prompt asks for a drawn target, otherwise fills the schema at
random, sends the replies that a test queued, and injects the faults that it is told to. Its tokens,
caches and counters are toys but consistent. It knows nothing of its clients.
"""
