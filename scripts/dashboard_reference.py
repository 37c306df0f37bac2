"""Writes the tables in docs/dashboard-panels.md and docs/dashboard-controls.md.

    python -m scripts.dashboard_reference

The rows come from the key tables in ``tenantry.dashboards.definition``. A table is between ``<!-- keys of NAME -->``
and ``<!-- end of keys -->``. The rest of the pages is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from scripts.distributions import ROOT
from tenantry.dashboards.definition.controls import CONTROL_KEYS
from tenantry.dashboards.definition.file_schema import DASHBOARD, PANELS
from tenantry.dashboards.definition.model import PanelKind
from tenantry.dashboards.definition.value_kinds import Key

PANELS_PAGE: Final = ROOT / "docs" / "dashboard-panels.md"
CONTROLS_PAGE: Final = ROOT / "docs" / "dashboard-controls.md"
PAGES: Final = (PANELS_PAGE, CONTROLS_PAGE)
EVERY, QUERIES, CHARTS, FILE = "every panel", "panels with a query", "figures and charts", "the file"
_TABLE: Final = re.compile(r"(<!-- keys of ([^>]+?) -->\n).*?(<!-- end of keys -->)", re.DOTALL)
_HEAD: Final = "| key | value | default | meaning |\n|---|---|---|---|\n"
_CODE: Final = re.compile(r"\{[^}]*\}|\[[^\]]*\]")
_NO_QUERY: Final = frozenset({PanelKind.HEADING, PanelKind.TEXT})
_NO_CHART: Final = _NO_QUERY | {PanelKind.TABLE, PanelKind.VEGA}

Row = tuple[str, str, str, str]


def tables() -> dict[str, str]:
    """Each table by its name: those of the kinds, and those of the keys that several kinds share."""
    found = dict(_panels())
    found |= {f"a control with {kind}": _table(_rows(keys)) for kind, keys in CONTROL_KEYS.items()}
    return found | {FILE: _table(_rows(DASHBOARD))}


def current(page: str) -> str:
    """The text of a page with its tables written anew. Raises KeyError for a table that does not exist."""
    known = tables()
    return _TABLE.sub(lambda found: f"{found[1]}\n{known[found[2]]}\n{found[3]}", page)


def _panels() -> Iterator[tuple[str, str]]:
    groups = {EVERY: _shared({PanelKind.HEADING})}
    groups[QUERIES] = _without(_shared(_NO_QUERY), groups[EVERY])
    groups[CHARTS] = _without(_shared(_NO_CHART), groups[EVERY], groups[QUERIES])
    for name, keys in groups.items():
        yield name, _table(_rows(keys))
    for kind, keys in PANELS.items():
        of_kind = {name: group for name, group in groups.items() if set(group) <= set(keys)}
        own = _without(keys, *of_kind.values())
        more = "".join(_more(of_kind))
        yield str(kind), _table(_rows(own)) + (f"\nFurther keys:\n\n{more}" if more else "")


def _shared(but: Iterable[PanelKind]) -> tuple[Key, ...]:
    first, *others = (keys for kind, keys in PANELS.items() if kind not in but)
    return tuple(key for key in first if all(key in keys for keys in others))


def _without(keys: Iterable[Key], *groups: Sequence[Key]) -> tuple[Key, ...]:
    return tuple(key for key in keys if not any(key in group for group in groups))


def _more(groups: Mapping[str, Sequence[Key]]) -> Iterator[str]:
    for name, keys in reversed([*groups.items()]):
        listed = ", ".join(f"`{key.name}`" for key in keys)
        yield f"- the [keys of {name}](#keys-of-{name.replace(' ', '-')}): {listed}\n"


def _table(rows: Iterable[Row]) -> str:
    return _HEAD + "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)


def _rows(keys: Iterable[Key], above: str = "") -> Iterator[Row]:
    for key in keys:
        yield from _rows_of(f"{above}{key.name}", key.kind.schema(), key.about, required=key.required)


def _rows_of(name: str, schema: Mapping[str, Any], about: str, *, required: bool) -> Iterator[Row]:
    meaning, _, default = about.partition("; default: ")
    default = "`false`" if schema.get("type") == "boolean" else default
    yield f"`{name}`", _code(value(schema)), "required" if required else _code(default), _code(meaning)
    if "title" not in schema:
        yield from _inner(schema, f"{name}.")


def _inner(schema: Mapping[str, Any], above: str) -> Iterator[Row]:
    """The keys of a mapping inside a value. A mapping of one key is clear from the value."""
    keys = schema.get("properties", {})
    for name, inner in keys.items() if len(keys) > 1 else ():
        required = name in schema.get("required", ())
        yield from _rows_of(f"{above}{name}", inner, inner.get("description", ""), required=required)
    for each in schema.get("anyOf", ()):
        yield from _inner(each, above)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _inner(schema["additionalProperties"], f"{above}NAME.")


def value(schema: Mapping[str, Any]) -> str:
    """What a schema accepts, in words."""
    if "title" in schema:
        return str(schema["title"])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{word}`" for word in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return ", or ".join(dict.fromkeys(map(value, schema["anyOf"])))
    kinds = schema.get("type", "string")
    if not isinstance(kinds, str):
        return " or ".join(value({"type": each}) for each in kinds)
    return _VALUES[kinds](schema)


def _number(schema: Mapping[str, Any]) -> str:
    least, greatest = schema.get("minimum"), schema.get("maximum")
    kind = "an integer" if schema["type"] == "integer" else "a number"
    if least is None or greatest is None or greatest >= 1e15:
        return kind
    return f"`{least}`" if least == greatest else f"{kind} from {least} to {greatest}"


def _mapping(schema: Mapping[str, Any]) -> str:
    keys = schema.get("properties", {})
    if keys:
        return f"{{{', '.join(f'{name}: …' for name in keys)}}}"
    inner = schema.get("additionalProperties", {})
    return "{NAME: …}" if not inner or any(_inner(inner, "")) else f"{{NAME: …}}, each {value(inner)}"


_VALUES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "array": lambda schema: f"a list of at most {schema['maxItems']}" if "maxItems" in schema else "a list",
    "object": _mapping,
    "boolean": lambda _: "`true`, `false`",
    "integer": _number,
    "number": _number,
    "string": lambda _: "text",
}


def _code(text: str) -> str:
    """Text with its pieces of YAML in backticks."""
    return _CODE.sub(lambda found: f"`{found[0]}`", text)


def main() -> None:
    """Write both pages."""
    for page in PAGES:
        page.write_text(current(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
