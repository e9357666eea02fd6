"""The teacher: small skills that read the rendered page and act on it like anybody.

`policy` is the policy itself, `page` the questions a skill may ask of what it reads, `primitives` the
decisions it may take, `goals` how a goal in words is taken apart. `families` says which skill
does which family of MiniWoB++, and why the few that are missing cannot be done. All other modules
are skills by kind.
"""
