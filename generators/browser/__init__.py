"""One shared Chromium, with an isolated context for each episode.

This package alone imports Playwright. It depends on no site, policy or task.
"""
