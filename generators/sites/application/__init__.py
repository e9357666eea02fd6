"""A site made of an application that one file describes: its servers, the way to them, and its judge."""
