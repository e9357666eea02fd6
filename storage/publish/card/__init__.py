"""The dataset card: text, front matter, plots, loading snippets; foreign text is escaped."""
