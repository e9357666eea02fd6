"""What several dialects share: tools, arguments, JSON replies, prompt text, escaping."""
