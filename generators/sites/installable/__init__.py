"""Applications that can be installed and served: what packages offer them, and how a site asks for one."""
