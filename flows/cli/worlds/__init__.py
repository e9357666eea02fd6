"""`stepmill worlds`: families, one world in words, as a picture or in a browser, and checks of many."""
