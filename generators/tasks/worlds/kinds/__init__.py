"""The kinds of tasks of worlds: each module registers one or several."""
