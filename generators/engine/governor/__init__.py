"""How many episodes live at an engine, and how many of their requests are under way: found while a run goes."""
