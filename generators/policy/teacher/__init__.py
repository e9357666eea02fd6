"""The teacher: small skills that read the rendered page and act on it as a person would.

`policy` is the policy itself, `page` what a skill can query on the page, `primitives` the actions a
skill is built from, `goals` how a goal in words is parsed, `geometry` the arithmetic of points.
`skills` says which skill solves which template of MiniWoB++, and why the few that are missing cannot
be solved. All other modules contain skills by kind.
"""
