"""Reads the goal of a task against its world alone: what is to be done, to which row, with which values.

It knows a goal's text, the world and its rows, and nothing of how the goal was drawn. A goal that has not exactly one
reading is refused, with the reason and the candidates.
"""
