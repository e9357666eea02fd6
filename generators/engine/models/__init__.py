"""Checkpoints this project makes itself, so that a real server has something to serve.

They are of Holotron-12B's architecture, `NemotronH_Nano_VL_V2`: a language model of Mamba-2, MLP
and attention layers behind a vision tower. The tiny one has random weights and runs on a laptop's
CPU; the other has the sizes of Holotron-12B and no weights at all, for a server on a GPU that is
told to make some up.
"""
