"""What pages of worlds look like: templates, kits, drawings and pictures."""
