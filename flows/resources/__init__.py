"""The resources that a run opens and closes: stores, browsers, engines."""
