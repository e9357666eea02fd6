"""The client of a model server: requests, endpoints and their health, retries, metrics, prices."""
