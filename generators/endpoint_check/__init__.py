"""The compatibility check behind `stepmill engine check`: whether an endpoint suits a dialect.

`check.check_endpoint` tests a live server for everything that a run needs; each other module has the checks
of one kind. `capacity_plan` is the arithmetic behind `stepmill engine plan`, which needs no server. Runs do
not use this package.
"""
