"""Makes checkpoints, so that a real server has something to serve without a download.

They are of Holotron-12B's architecture, `NemotronH_Nano_VL_V2`: a language model of Mamba-2, MLP
and attention layers behind a vision tower. The tiny one has random weights and runs on a laptop's
CPU. The other has the sizes of Holotron-12B and no weights, for a server on a GPU that makes up its
own.
"""
