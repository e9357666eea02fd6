"""A dialect for a model that was trained from UI-TARS, and is told its task in capitals."""

from typing_extensions import override

from generators.policy.dialects.ui_tars import UITars


class Shouting(UITars):
    stepmill_api = 1
    name = "shouting"
    version = "1"

    @override
    def task_message(self, instruction: str) -> str:
        return super().task_message(instruction).upper()
