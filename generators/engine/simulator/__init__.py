"""An OpenAI-compatible server that needs no model: for tests, demos and documentation.

It sends the replies that a test queued, points at a drawn target where the prompt asks for one, and
otherwise fills the request's schema at random. It injects the faults that a test posts. Its tokens,
caches and counters are toys but consistent. It knows nothing of its clients.
"""
