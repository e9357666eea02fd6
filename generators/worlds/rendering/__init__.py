"""The rendering of worlds' pages: templates, kits, drawings and pictures."""
