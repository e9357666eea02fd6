"""Seats as environments of Gymnasium, in this process; with the extra `gym`: `pip install 'stepmill[gym]'`."""
