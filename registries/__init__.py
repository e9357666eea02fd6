"""Parts by name: those that ship and those of plug-ins, under one rule.

A configuration or a flag names a part: a site, a policy, a verifier, a dialect, a format or a probe. The
package that owns a kind of part creates its `Registry` with the built-in parts; the registry finds the
parts of plug-ins through the entry points of installed distributions.
"""
