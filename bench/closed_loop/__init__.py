"""Sessions that ask, think and ask again, against a server's batching clock in virtual time."""
