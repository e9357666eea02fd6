"""The configuration of a run and of an application, and the masks on pages."""
