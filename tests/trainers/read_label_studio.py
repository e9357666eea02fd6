"""Reads tasks as Label Studio's SDK does, says what is wrong with them, and answers each as a person would there.

Run in the SDK's environment: CONFIG TASKS ANSWERS. Prints one line of JSON.
"""

import json
import sys
from pathlib import Path

from label_studio_sdk.label_interface import LabelInterface  # type: ignore[import-not-found]
from label_studio_sdk.label_interface.objects import (  # type: ignore[import-not-found]
    AnnotationValue,
    TaskValue,
)

ANSWERS = (
    {"decision": "reject", "reason": "the wrong row", "step": 0},
    {"decision": "accept"},
    {"instruction": "Click on the button named Submit"},
)

config, tasks, answers = map(Path, sys.argv[1:])
interface = LabelInterface(config.read_text(encoding="utf-8"))
interface.validate()
problems = []
answered = []
for number, task in enumerate(json.loads(tasks.read_text(encoding="utf-8"))):
    TaskValue.model_validate(task)
    if not interface.validate_task({"data": task["data"]}):
        problems.append(f"task {number}: its data are not the configuration's")
    for prediction in task["predictions"]:
        problems += interface.validate_prediction(prediction, return_errors=True)
    problems += [
        f"task {number}: {one}"
        for one in task["annotations"]
        if not interface.validate_annotation(one)
    ]
    regions = interface.create_regions(ANSWERS[number % len(ANSWERS)])
    value = AnnotationValue(completed_by=7, result=regions).model_dump()
    if not interface.validate_annotation(value):
        problems.append(f"task {number}: the answer is not the configuration's")
    times = {"created_at": "2026-03-04T05:06:07.123456Z", "updated_at": "2026-03-04T05:06:08Z"}
    answered.append({"id": number, "data": task["data"], "annotations": [value | times]})
answers.write_text(json.dumps(answered), encoding="utf-8")
sys.stdout.write(json.dumps({"tasks": len(answered), "problems": problems}))
