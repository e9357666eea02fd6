"""The clock of a server that batches continuously: what vLLM's scheduler does with requests, blocks and states, in virtual time."""
