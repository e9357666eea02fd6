"""The common parts of several dialects: tools, arguments, JSON replies, prompt text, escaping."""
