"""How episodes are made, judged and replayed: everything that happens in memory.

The package knows no bucket and no Prefect. Its layers, top down: `rollout`, `verify`, `tasks` and
`endpoint_check`, which do not know each other; `policy`; `engine` and `sites`; `browser`.
"""
