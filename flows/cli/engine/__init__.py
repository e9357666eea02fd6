"""`stepmill engine`: serve a model, check an endpoint, plan a viewport."""
