"""One shared Chromium, an isolated context for each episode: observe, act, capture, contain.

It is the only package that imports Playwright, and it knows no site, no policy and no task.
"""
