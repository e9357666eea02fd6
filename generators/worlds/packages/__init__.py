"""The npm packages of worlds' pages: the lock, the installation, and their files."""
