"""Adds a panel to the text of a dashboard. The rest of the text stays the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenantry.dashboards import readable_name
from tenantry.dashboards.definition import read_dashboard
from tenantry.sql import Source
from tenantry.sql.header import read_yaml

_PLAIN: Final = re.compile(r"[A-Za-z_][\w/-]*")
_NO_STRINGS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Words that some YAML readers do not take as strings (YAML 1.1, 1.2)."""


def add_panel(text: str, name: str, panel: Mapping[str, Any], file: str) -> str:
    """Return the text of a dashboard with one more row, which contains ``panel``. An empty text becomes a dashboard.

    ``name``, ``file``: the name of the dashboard, and the path that errors show. Raises TemplateError if the text or
    the result cannot be read.
    """
    source = Source(text, file)
    read_yaml(source, 0, len(text))  # raises errors with their position; yaml.compose would also take aliases
    changed = _with_row(text, _written(panel), name)
    read_dashboard(changed, name, file)
    return changed


def _with_row(text: str, row: str, name: str) -> str:
    import yaml  # loaded only for files with YAML

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):  # an empty file, or one that read_dashboard refuses
        return f"{_ended(text)}title: {_scalar(readable_name(name))}\nrows:\n  - {row}\n"
    rows = next((value for key, value in root.value if key.value == "rows"), None)
    if isinstance(rows, yaml.SequenceNode) and rows.value:
        add = _after_flow if rows.flow_style else _after_block
        return add(text, rows, row)
    if isinstance(rows, yaml.SequenceNode):  # rows: []
        at = rows.end_mark.index - 1
        return f"{text[:at].rstrip()}{row}{text[at:]}"
    if root.flow_style:
        at = root.end_mark.index - 1
        return f"{text[:at].rstrip()}, rows: [{row}]{text[at:]}"
    if rows is not None:  # rows: without a value
        at = _line_end(text, rows.start_mark.index)
        return f"{_ended(text[:at])}  - {row}\n{text[at:]}"
    at = _line_end(text, _content_end(root))
    return f"{_ended(text[:at])}rows:\n  - {row}\n{text[at:]}"


def _after_block(text: str, rows: Any, row: str) -> str:
    indent = " " * rows.start_mark.column
    at = _line_end(text, _content_end(rows))
    comments = re.compile(rf"(?:{indent} *#.*(?:\n|$))*").match(text, at)  # commented-out rows stay before the new row
    at = at if comments is None else comments.end()
    first = text.rfind("\n", 0, rows.value[-1].start_mark.index) + 1  # the line on which the last row begins
    is_apart = len(rows.value) > 1 and text[:first].endswith("\n\n")
    blank = "\n" if is_apart else ""
    return f"{_ended(text[:at])}{blank}{indent}- {row}\n{text[at:]}"


def _after_flow(text: str, rows: Any, row: str) -> str:
    import yaml

    last = rows.value[-1]
    end, close = last.end_mark.index, rows.end_mark.index - 1
    tokens = yaml.scan(text, Loader=yaml.SafeLoader)
    commas = [each.end_mark.index for each in tokens if isinstance(each, yaml.FlowEntryToken)]
    at = next((each for each in commas if end < each <= close), end)
    line = text.rfind("\n", 0, last.start_mark.index) + 1
    between = f"\n{' ' * last.start_mark.column}" if rows.start_mark.index < line else " "
    return f"{text[:at]}{'' if at > end else ','}{between}{row}{text[at:]}"


def _content_end(node: Any) -> int:
    # PyYAML's end mark of a block is after the comments that follow.
    children: list[Any] = [each for pair in node.value for each in pair] if node.id == "mapping" else node.value
    if node.id == "scalar" or node.flow_style or not children:
        return int(node.end_mark.index)
    return max(map(_content_end, children))


def _line_end(text: str, at: int) -> int:
    """Return the offset at which the next line begins, or ``at`` if a line begins there."""
    if at and text[at - 1] == "\n":  # after a block scalar
        return at
    return text.find("\n", at) + 1 or len(text)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _written(panel: Mapping[str, Any]) -> str:
    return "{" + ", ".join(_entries(panel)) + "}"


def _entries(panel: Mapping[str, Any]) -> Iterator[str]:
    for key, value in panel.items():
        written = f"[{', '.join(map(_scalar, value))}]" if isinstance(value, list) else _scalar(value)
        yield f"{key}: {written}"


def _scalar(value: str) -> str:
    is_plain = _PLAIN.fullmatch(value) and value.lower() not in _NO_STRINGS
    return value if is_plain else json.dumps(value, ensure_ascii=False)
