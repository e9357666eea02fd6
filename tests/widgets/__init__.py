"""The components of well-known kits, operated by ordinary actions and by the generic skills."""
