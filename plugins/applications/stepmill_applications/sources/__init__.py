"""Where applications come from: Debian's packages, PyPI and the npm registry, by name and version."""
