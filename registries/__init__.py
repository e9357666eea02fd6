"""Parts by name: those that ship and those of plug-ins, under one rule.

A part is whatever a configuration or a flag chooses by a name: a site, a policy, a verifier, a dialect, a
format, a probe. The package knows none of them. Whoever owns a kind of part makes its `Registry` with those that
ship; the others are found through the entry points of installed distributions.
"""
