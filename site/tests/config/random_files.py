"""Random configurations: the keys of real files with values of every kind, right and wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel

from tenantry_site.config.model import SiteConfig
from tenantry_site.config.object_validator import object_validators

_PARTS: list[type[BaseModel]] = [validator.model for validator in object_validators()]
_FIELDS = sorted({str(info.alias) for part in _PARTS for info in part.model_fields.values()})
_OTHERS = ["theme", "navbar", "analytics", "$schema", "logoHref", "a.b", "tabz", "icno", "type", "style", "x", "tiktok"]

KEYS = st.sampled_from(_FIELDS + _OTHERS)
TEXTS = st.sampled_from([
    "", " ", "a", "guides/start", "/guides", "../x", "https://a.example", "http://localhost:1", "localhost:3000",
    "github.com/a", "mailto:a@b.c", "javascript:x", " JAVA\nSCRIPT:x", "data:image/png,x", "vbscript:", "discord://x",
    "//a.b", "#fff", "#ffff", "#12345", "#0D9373", "red", "link", "github", "GitHub", "apiKey", "key", "basic", "a:b",
    "show", "none", "dark", "Dark", "duotone", "fa-book", "book", "v1", "v2", "\x00", "a\x1bb", "true", "x.svg",
    "\u202e", "é", "#fff\n",
])  # fmt: skip
SCALARS = st.one_of(
    TEXTS, st.booleans(), st.none(), st.integers(-3, 3), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


def _part(part: type[BaseModel], depth: int) -> st.SearchStrategy[Any]:
    """An object that is mostly of the shape of a part of the model."""
    fields = {str(info.alias): _field(info.annotation, depth) | VALUES for info in part.model_fields.values()}
    needed = {"name": TEXTS, "navigation": fields["navigation"]} if part is SiteConfig else {}
    return st.builds(
        lambda known, extra: {**extra, **known},
        st.fixed_dictionaries(needed, optional={key: value for key, value in fields.items() if key not in needed}),
        st.dictionaries(KEYS, VALUES, max_size=1),
    )


def _field(kind: Any, depth: int) -> st.SearchStrategy[Any]:
    """A value that is mostly of a field's type."""
    named = [part for part in _PARTS if part.__name__ in str(kind) and part is not SiteConfig]
    inner: st.SearchStrategy[Any] = TEXTS if str(kind) != "<class 'bool'>" else st.booleans()
    if named and depth < 4:
        inner = inner | st.one_of([_part(part, depth + 1) for part in named])
    return st.lists(inner, max_size=3) if "tuple" in str(kind) else inner


def configurations() -> st.SearchStrategy[Any]:
    """Whole files, as values."""
    return st.deferred(lambda: _part(SiteConfig, 0))


@st.composite
def damaged(draw: st.DrawFn, whole: dict[str, Any]) -> Any:
    """A right file with one or two places of it changed: a value replaced, a key renamed, taken out or put in."""
    result = json.loads(json.dumps(whole))
    for _ in range(draw(st.integers(1, 2))):
        places = list(_places(result))
        holder, key = draw(st.sampled_from(places))
        change = draw(st.sampled_from(["replace", "replace", "text", "remove", "rename", "add"]))
        value = holder.pop(key)
        if change in ("replace", "text"):
            value = draw(TEXTS if change == "text" else VALUES)
        if isinstance(holder, list):
            holder += [] if change == "remove" else [value]
        elif change == "rename":
            holder[draw(KEYS)] = value
        elif change != "remove":
            holder[key] = value
        if change == "add" and isinstance(holder, dict):
            holder[draw(KEYS)] = draw(VALUES)
    return result


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every value within a value, by the list or object that holds it and its key."""
    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(item, (dict, list)):
            yield from _places(item)
