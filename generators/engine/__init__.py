"""The model server: its protocol, the client for any of them, the supervision of vLLM, the simulator."""
