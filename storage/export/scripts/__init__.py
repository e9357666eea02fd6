"""An episode as a script: the same clicks and keys as calls of Playwright, in Python and in TypeScript."""
