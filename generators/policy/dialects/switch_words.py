"""Words that chat templates and tokenizers take for something other than text, by model family.

A template may search messages for a word, remove it and switch the model's thinking; a tokenizer turns a
special token into structure wherever it stands. A page that shows such a word would end a turn, take the
place of a picture, or make the model think. Each dialect names its family's words, and the sanitiser
breaks them in all that comes from a page, a task or a model. A word stands for every word that begins
with it, so `<SPECIAL_` is `<SPECIAL_10>` too. Words are compared as templates compare them: letter for
letter.
"""

MARKUP = ("<|", "<image", "<img", "</img", "<video", "<audio", "<think>", "</think>")
"""Begin the tokens of many families; the words of a family whose template is not known here."""

SWITCHES = ("/think", "/no_think")
"""Turn a model's thinking on and off, in a message of a user or of the system."""

QWEN2_5_VL = (
    *MARKUP,
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<tools>",
)
"""Holo1, Holo1.5, UI-TARS, Fara, OpenCUA. Source: the tokenizer and the chat template of Qwen2.5-VL, whose special tokens begin
with `<|`."""

QWEN3_VL = (*QWEN2_5_VL, "</tools>", *SWITCHES)
"""Holo2, `computer_use`, Qwen3-VL, GUI-Owl 1.5. Source: the chat template of Qwen3-VL, which looks for `</think>` and `<tool_response>`;
Qwen3's own pages say that the model heeds the last switch in its messages."""

QWEN3_5 = (*QWEN3_VL, "<function=", "</function>", "<parameter=", "</parameter>", "<IMPORTANT>")
"""Holo3, Holo3.1, Holo4. Source: the chat template of Qwen3.5, which writes calls of tools in these tags."""

NEMOTRON = (
    *MARKUP,
    *SWITCHES,
    "<_end_think>",
    "<SPECIAL_",
    "<s>",
    "</s>",
    "<unk>",
    "<AVAILABLE_TOOLS>",
    "</AVAILABLE_TOOLS>",
    "<TOOLCALL>",
    "</TOOLCALL>",
    "<TOOL_RESPONSE>",
    "</TOOL_RESPONSE>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
)
"""Holotron and its successors. Source: the chat template of NVIDIA-Nemotron-Nano-12B-v2-VL, which removes the switches from every
message, hides `</think>` as `<_end_think>` meanwhile, and sends no picture of a message that says `<image>`.
The words in square brackets are those that its tokenizer has from Mistral; the newer Nemotron 3 begins turns
with `<|im_start|>`."""

EVERY_FAMILY = tuple(dict.fromkeys((*QWEN3_5, *NEMOTRON)))
"""The words of all of them, for prompts that dialects share."""
