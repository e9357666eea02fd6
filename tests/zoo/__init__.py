"""Pages of one kind each, with what plain Chromium shows and does on them (`docs` in `zoo.py`)."""
