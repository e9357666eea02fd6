"""The card's section on columns without values: every run has the same schema, but not the same values."""

from collections.abc import Iterator, Sequence

from storage.publish.plan.manifest import PublishedFile, null_columns_by_config


def null_column_lines(files: Sequence[PublishedFile]) -> Iterator[str]:
    """Yield the columns without a value in any row, config by config."""
    nulls = null_columns_by_config(files)
    if not nulls:
        yield "The columns are the same from run to run, and each has a value in some row here."
        return
    yield "The columns are the same from run to run. These have no value in any row here:"
    yield ""
    for config, names in nulls.items():
        yield f"* `{config}`: {', '.join(f'`{name}`' for name in names)}"
