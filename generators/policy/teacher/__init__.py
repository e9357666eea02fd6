"""The teacher: small skills that read the rendered page and act on it as a person would.

`policy` is the policy itself, `page` the questions a skill may ask of what it reads, `primitives` the
decisions it may take, `goals` how a goal in words is taken apart. `skills` says which skill solves
which template of MiniWoB++, and why the few that are missing cannot be solved. All other modules are
skills by kind.
"""
