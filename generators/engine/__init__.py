"""The model server: its protocol, the client that asks any of them, vLLM's life, the simulator."""
