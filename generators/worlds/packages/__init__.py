"""The npm packages that pages of worlds use: which they are, how they get onto a machine, and their files."""
