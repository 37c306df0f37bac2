from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Explanation: TypeAlias = Mapping[str, Any]
"""The result of ``explain_dashboard``."""


def compare_explanations(left: Explanation, right: Explanation) -> dict[str, Any]:
    """Compare two explanations of one dashboard, both made with ``values=True``. Each item of ``differences`` in the
    returned JSON has ``where`` (such as ``panel sales``), ``what`` (such as ``totals: SQL``), and ``values``: one value
    from each explanation.

    Raises ValueError if the explanations are of different dashboards.
    """
    if left["dashboard"] != right["dashboard"]:
        raise ValueError("the explanations are of different dashboards")
    return {
        "dashboard": left["dashboard"],
        "groups": [left["group"], right["group"]],
        "differences": [each for each in _differences(left, right) if not _is_one_error(left, right, each["values"])],
    }


def _differences(left: Explanation, right: Explanation) -> Iterator[dict[str, Any]]:
    yield from _condition("dashboard", left, right)
    yield from _texts("title", left, right)
    for one, other in zip(left["choices"], right["choices"], strict=True):
        yield from _query(f"control {one['control']}", one, other)
    for one, other in zip(left["panels"], right["panels"], strict=True):
        where = f"panel {one['id']}"
        yield from _condition(where, one, other)
        if not all(is_shown(each) for each in (one, other)):
            continue
        yield from _texts(where, one, other)
        for asked, asked_other in zip(one["queries"], other["queries"], strict=True):
            yield from _query(where, asked, asked_other)


def is_shown(part: Explanation) -> bool:
    return bool(part.get("when", {}).get("holds", True))


def _condition(where: str, left: Explanation, right: Explanation) -> Iterator[dict[str, Any]]:
    yield from _differing(where, "shown", is_shown(left), is_shown(right))


def _texts(where: str, left: Explanation, right: Explanation) -> Iterator[dict[str, Any]]:
    for one, other in zip(left["texts"], right["texts"], strict=True):
        yield from _differing(where, f"text {one['reads'][0]['path']}", _outcome(one), _outcome(other))


def _query(where: str, left: Explanation, right: Explanation) -> Iterator[dict[str, Any]]:
    what = left["name"] or left["for"]
    yield from _differing(where, f"{what}: source", left.get("source"), right.get("source"))
    yield from _differing(where, f"{what}: SQL", left.get("sql"), right.get("sql"))
    yield from _differing(where, f"{what}: error", left.get("error"), right.get("error"))
    values, others = _by_path(left), _by_path(right)
    for path in {**values, **others}:
        yield from _differing(where, f"{what}: {path}", values.get(path), others.get(path))


def _by_path(query: Explanation) -> dict[str, Any]:
    return {
        " and ".join(each["path"] for each in used["reads"]): _outcome(used) for used in query.get("placeholders", ())
    }


def _outcome(used: Explanation) -> Any:
    origins = [{name: text for name, text in each.items() if name != "path"} for each in used["reads"]]
    return {"origins": origins, "value": used.get("value"), "error": used.get("error")}


def _is_one_error(left: Explanation, right: Explanation, values: list[Any]) -> bool:
    if not all(isinstance(each, Mapping) and "message" in each for each in values):
        return False
    ids = [repr(each["group"]["id"]) for each in (left, right)]
    one, other = ((each["code"], each["message"].replace(own, "")) for each, own in zip(values, ids, strict=True))
    return bool(one == other)


def _differing(where: str, what: str, left: Any, right: Any) -> Iterator[dict[str, Any]]:
    if left != right:
        yield {"where": where, "what": what, "values": [left, right]}
