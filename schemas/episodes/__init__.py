"""The records of an attempt: observations, actions, calls and costs."""
