"""Prefect: the server, the deployments, and how a run is shown to them."""
