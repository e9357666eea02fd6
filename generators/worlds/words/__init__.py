"""What pages of worlds say beside the words of families: a file for each language."""
