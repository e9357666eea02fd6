"""The compatibility check behind `stepmill engine check`: whether an endpoint suits a dialect.

`check.check_endpoint` asks a live server for everything that a run needs of it; each other module
holds the checks of one kind. `capacity_plan` is the arithmetic behind `stepmill engine plan`, which
asks no server. A run uses none of this.
"""
