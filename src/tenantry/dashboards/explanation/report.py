from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import Any, Final

from tenantry.dashboards.explanation.comparison import Explanation, compare_explanations, is_shown

_STYLE: Final = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h2 { margin-top: 2.5rem; font-size: 1.15rem; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
th, td { border-bottom: 1px solid #8886; padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
pre { overflow-x: auto; padding: 0.75rem; background: #8882; border-radius: 0.4rem; }
tr.differs td:first-child { font-weight: 600; border-left: 4px solid #c2410c; }
.note { opacity: 0.75; }
"""
_POLICY: Final = f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="note">Marked lines differ between the groups.</p>
{body}
</body>
</html>
"""


def origin_phrase(origin: Mapping[str, str]) -> str:
    """The origin of a value in words: ``property region``, ``clock: last 30 days, by default``."""
    kind, of, by = origin["origin"], origin.get("of", ""), origin.get("by", "")
    zone = f", in the zone of {origin['zone']}" if "zone" in origin else ""
    if kind == "clock":
        return f"clock: {of}, {'by default' if by == 'default' else 'chosen by the viewer'}{zone}"
    return f"{kind} {of}".strip() + zone


def parts(explanation: Explanation) -> Iterator[tuple[str, Explanation]]:
    yield "title", {**explanation, "queries": []}
    for control in explanation["choices"]:
        yield f"control {control['control']}", {"texts": [], "queries": [control]}
    for panel in explanation["panels"]:
        yield f"panel {panel['id']} ({panel['kind']})", panel


# --- text -------------------------------------------------------------------------------------------------------------


def explanation_text(explanation: Explanation) -> str:
    lines = [f"{explanation['dashboard']} for {_group(explanation)}"]
    for name, part in parts(explanation):
        if part["texts"] or part["queries"] or "when" in part:
            lines += ["", name, *(f"  {line}" for line in _part_lines(part))]
    return "\n".join(lines)


def panel_text(explanation: Explanation) -> str:
    """Return a panel's explanation as plain text."""
    return "\n".join(_part_lines(explanation)) or "Nothing in this panel comes from a query or a variable."


def _part_lines(part: Explanation) -> Iterator[str]:
    if "when" in part:
        yield _condition(part)
    if not is_shown(part):
        return
    yield from map(_cell, part["texts"])
    for query in part["queries"]:
        yield _query_head(query)
        yield from (f"  {line}" for line in dict.fromkeys(map(_cell, query.get("placeholders", ()))))
        yield from (f"  {_guard(each)}" for each in query.get("guards", ()))
        yield from (f"    {line}" for line in query.get("sql", "").splitlines())


def _condition(part: Explanation) -> str:
    when = part["when"]
    values = " or ".join(json.dumps(each, ensure_ascii=False) for each in when["in"])
    return f"{'shown' if when['holds'] else 'not shown'}: when the property {when['property']} is {values}"


def comparison_text(left: Explanation, right: Explanation) -> str:
    compared = compare_explanations(left, right)
    lines = [f"{left['dashboard']} for {_group(left)}, and for {_group(right)}"]
    for each in compared["differences"]:
        lines += ["", f"{each['where']}, {each['what']}"]
        for explanation, value in zip((left, right), each["values"], strict=True):
            lines.append(f"  {explanation['group']['id']}: {_differing_value(value)}")
    return "\n".join(lines if compared["differences"] else [*lines, "", "there is no difference"])


def _group(explanation: Explanation) -> str:
    group = explanation["group"]
    return f"{group['id']} ({group['environment']}, revision {group['revision']})"


def _cell(used: Explanation) -> str:
    paths = " and ".join(each["path"] for each in used["reads"])
    value = f": {_value(used)}" if "value" in used or "error" in used else ""
    return f"{paths}{value} ({'; '.join(map(origin_phrase, used['reads']))})"


def _guard(guard: Mapping[str, Any]) -> str:
    place = f"table {guard['table']} (line {guard['line']}, column {guard['column']})"
    return f"{place}: only rows where {guard['condition']}" if "condition" in guard else f"{place}: shared, all rows"


def _differing_value(value: Any) -> str:
    if isinstance(value, Mapping) and "origins" in value:
        return f"{_value(value)} ({'; '.join(map(origin_phrase, value['origins']))})"
    if isinstance(value, Mapping):
        return value.get("message") or f"{value['name']} ({value['id']}, {value['engine']})"
    return "-" if value is None else str(value)


def _value(used: Explanation) -> str:
    if used.get("error") is not None:
        return f"[{used['error']['code']}]"
    return json.dumps(used.get("value"), ensure_ascii=False)


def _query_head(query: Explanation) -> str:
    name = query["name"] or "inline SQL"
    if "error" in query:
        return f"{query['for']}: {name}: {query['error']['message']} [{query['error']['code']}]"
    source = query["source"]
    age = "" if query["age"] is None else f", cached {query['age']} s ago"
    return f"{query['for']}: {name}, of {source['name']} ({source['id']}, {source['engine']}){age}"


# --- a page -----------------------------------------------------------------------------------------------------------


def explanation_page(explanations: Sequence[Explanation]) -> str:
    """Return one or two explanations as a self-contained HTML page."""
    first = explanations[0]
    title = escape(f"{first['dashboard']} for {' and for '.join(map(_group, explanations))}")
    sections = zip(*(list(parts(each)) for each in explanations), strict=True)
    body = "\n".join(_section(list(each)) for each in sections)
    return _PAGE.format(policy=_POLICY, title=title, style=_STYLE, body=body)


def _section(same: list[tuple[str, Explanation]]) -> str:
    name, panels = same[0][0], [panel for _, panel in same]
    rows = [_row([_condition(each) for each in panels])] if "when" in panels[0] else []
    if not all(map(is_shown, panels)):
        return _table(name, rows)
    rows += [_row([_cell(each) for each in texts]) for texts in zip(*(panel["texts"] for panel in panels), strict=True)]
    for queries in zip(*(panel["queries"] for panel in panels), strict=True):
        rows.append(_row([_query_head(each) for each in queries]))
        rows.append(_row([each.get("sql", "") for each in queries], "pre"))
        guards = ["\n".join(map(_guard, each.get("guards", ()))) for each in queries]
        rows += [_row(guards, "pre")] if any(guards) else []
        cells = [{_paths(each): _cell(each) for each in query.get("placeholders", ())} for query in queries]
        rows += [_row([each.get(path, "") for each in cells]) for path in dict.fromkeys(p for c in cells for p in c)]
    return _table(name, rows)


def _table(name: str, rows: Sequence[str]) -> str:
    return f"<h2>{escape(name)}</h2>\n<table>\n{''.join(rows)}</table>" if rows else ""


def _paths(used: Explanation) -> tuple[str, ...]:
    return tuple(each["path"] for each in used["reads"])


def _row(cells: Sequence[str], element: str = "span") -> str:
    differs = ' class="differs"' if len(set(cells)) > 1 else ""
    written = "".join(f"<td><{element}>{escape(cell)}</{element}></td>" for cell in cells)
    return f"<tr{differs}>{written}</tr>\n"
