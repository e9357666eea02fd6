"""One shared Chromium, an isolated context for each episode: observe, act, capture, contain.

The only package that imports Playwright. It knows no site, no policy and no task.
"""
