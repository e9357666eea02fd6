"""Whether an endpoint is fit for a dialect: a live server is asked everything that a run needs.

`check.examine` asks, line by line; every other module is one kind of question. Nothing here is
used by a run.
"""
