"""Notes: a page with the editor TipTap, whose documents a server keeps as they are written."""
