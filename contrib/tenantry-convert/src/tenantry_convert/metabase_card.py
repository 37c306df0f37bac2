"""Reads queries and variables from the JSON of a question of Metabase.

A question has one of two forms: ``native``, with ``template-tags`` as a mapping by name, or ``stages``, whose tags may
be a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenantry_convert.conversion import ImportedQuery, ImportedVariable

_RELATIVE = re.compile(r"(this|past|next)(\d{1,4})?(minute|hour|day|week|month|quarter|year)s?(~)?")
_TYPES: Final = {"text": "text", "number": "decimal", "date": "date", "boolean": "boolean"}


def read_cards(document: Any, name: str) -> list[ImportedQuery]:
    """Return the native queries of a question, a list of questions, or an API response. ``name``: for a query without a
    name."""
    return [query for card in _cards(document) if (query := _read(card, name)) is not None]


def _cards(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, list):
        for each in document:
            yield from _cards(each)
    elif isinstance(document, Mapping):
        yield document
        for name in ("data", "cards", "dashcards", "card"):
            yield from _cards(document.get(name))


def _read(card: Mapping[str, Any], name: str) -> ImportedQuery | None:
    found = _native(card.get("dataset_query") or card)
    if found is None:
        return None
    text, tags = found
    parameters = _parameters(card.get("parameters"))
    return ImportedQuery(
        text=text,
        name=str(card.get("name") or name),
        description=str(card.get("description") or ""),
        variables={tag["name"]: _variable(tag, parameters.get(tag["name"], {})) for tag in tags},
    )


def _native(query: Any) -> tuple[str, list[Mapping[str, Any]]] | None:
    if not isinstance(query, Mapping):
        return None
    stage = next((each for each in query.get("stages") or [] if isinstance(each, Mapping) and "native" in each), None)
    native = stage if stage is not None else query.get("native", query)
    if not isinstance(native, Mapping):
        return None
    text = native.get("native" if stage is not None else "query")
    if not isinstance(text, str):
        return None
    tags = native.get("template-tags") or {}
    values = list(tags.values()) if isinstance(tags, Mapping) else tags
    return text, [tag for tag in values if isinstance(tag, Mapping) and isinstance(tag.get("name"), str)]


def _parameters(found: Any) -> dict[str, Mapping[str, Any]]:
    by_tag = {}
    for each in found if isinstance(found, list) else []:
        if isinstance(each, Mapping):
            by_tag[_tag_of(each.get("target")) or str(each.get("slug"))] = each
    return by_tag


def _tag_of(target: Any) -> str | None:
    while isinstance(target, list) and len(target) >= 2:
        if target[0] == "template-tag":
            return str(target[-1])
        target = target[1]
    return None


def _variable(tag: Mapping[str, Any], parameter: Mapping[str, Any]) -> ImportedVariable:
    kind = tag.get("type")
    definition: dict[str, Any] = {"type": _TYPES.get(str(kind), "text")}
    choices = _choices(parameter)
    if choices and definition["type"] == "text":
        definition |= {"type": "choice", "choices": list(choices)}
    default = _default(tag.get("default"), str(tag.get("widget-type")))
    if default is not None:
        definition["default"] = default
    if tag.get("required") and "default" not in definition:
        definition["required"] = True
    label = tag.get("display-name")
    if isinstance(label, str) and label:
        definition["label"] = label
    if kind == "dimension":
        widget = str(tag.get("widget-type") or "category")
        definition.pop("choices", None)
        return ImportedVariable(
            definition=definition,
            kind="field filter",
            column=_column(tag.get("dimension")),
            alias=str(tag.get("alias") or ""),
            widget="category" if widget == "none" else widget,
        )
    if kind == "temporal-unit":
        return ImportedVariable(definition=definition, kind="time unit")
    if kind not in _TYPES:
        return ImportedVariable(definition=definition, kind="other", reason=f"a variable of the type {kind}")
    return ImportedVariable(definition=definition, choices=choices)


def _default(value: Any, widget: str) -> Any:
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return value or None
    if not isinstance(value, str | int | float):
        return None
    return date_range(str(value)) if widget.startswith("date/") and widget != "date/single" else value


def date_range(value: str) -> str:
    """Convert a range of Metabase to Tenantry's syntax.

    ``value`` may be ``2026-01-01~2026-01-31``, ``past30days``, ``past7days~`` (with today) or ``thismonth``. In any
    other string only ``~`` is replaced, and the parameter's declaration then refuses it.
    """
    relative = _RELATIVE.fullmatch(value)
    if relative is None:
        return value.replace("~", "..")
    which, count, unit, with_current = relative.groups()
    if which == "this":
        return f"this {unit}"
    word = "next" if which == "next" else "last" if with_current else "previous"
    return f"{word} {count or 1} {unit}s"


def _choices(parameter: Mapping[str, Any]) -> tuple[str, ...]:
    config = parameter.get("values_source_config")
    values = config.get("values") if isinstance(config, Mapping) else None
    if not isinstance(values, list):
        return ()
    return tuple(str(value[0] if isinstance(value, list) and value else value) for value in values)


def _column(dimension: Any) -> tuple[str, ...]:
    for part in dimension if isinstance(dimension, list) else []:
        if isinstance(part, list) and part and all(isinstance(each, str) or each is None for each in part):
            return tuple(each for each in part[-2:] if each)
    named = [part for part in (dimension if isinstance(dimension, list) else [])[1:] if isinstance(part, str)]
    return tuple(named[-1:])
