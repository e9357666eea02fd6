"""The plan of a published dataset: selected episodes, their files and rows, the manifest."""
