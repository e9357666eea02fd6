"""`stepmill worlds`: the families there are, one world in words, in a picture or in a browser, and checks of many."""
