"""An OpenAI-compatible server that needs no model: for tests, demos and documentation.

It looks at pictures only where a drawn target is asked for, answers with schema-valid nonsense
otherwise, says what a puppeteer told it to, and misbehaves in whichever way it is asked to. Its
tokens, caches and counters are toys, but true ones. It knows nothing of the clients that ask it.
"""
