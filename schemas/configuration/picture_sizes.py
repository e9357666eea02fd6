"""The default sizes of pages and pictures, in pixels."""

VIEWPORT = (500, 400)
"""The viewport of pages without an area of their own."""

MODEL_VIEWPORT = (1_024, 1_024)
"""The same for a policy that calls a model, and its largest picture: on Holotron's tile grid, 2×2 tiles of
512 px and a thumbnail, 1,280 tokens, nothing rescaled."""

PICTURE_SIDE = (368, 480)
"""The longer side of pictures for policies without a model: a picture's pixels cost most of a step."""

MODEL_PICTURE_SIDE = (896, MODEL_VIEWPORT[0])
"""The longer side of pictures for policies that call a model."""
