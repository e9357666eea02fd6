"""How large pages and pictures are, in pixels, where nobody says it."""

VIEWPORT = (500, 400)
"""Of pages without an area of their own."""

MODEL_VIEWPORT = (1_024, 1_024)
"""The same where a model looks, and the largest picture there: on Holotron's tile grid, 2×2 tiles of 512 px
and a thumbnail, 1,280 tokens, nothing rescaled."""

PICTURE_SIDE = (368, 480)
"""Of pictures that no model looks at while they are made: a picture's pixels cost most of a step."""

MODEL_PICTURE_SIDE = (896, MODEL_VIEWPORT[0])
"""Of pictures that a model looks at."""
