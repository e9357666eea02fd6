"""The registry of splits: which tasks are held out, known from a task alone, before anybody attempts it."""
