"""What a run opens and closes: stores, browsers, engines."""
