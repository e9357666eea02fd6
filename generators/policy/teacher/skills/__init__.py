"""The teacher's skills: each plans the actions that solve a kind of MiniWoB++ template."""
