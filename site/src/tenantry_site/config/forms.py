"""Forms: what to write where a value is of another kind than its field."""

from __future__ import annotations

from math import isfinite
from typing import Any

from pydantic import BaseModel

from tenantry_site.config.model import (
    Anchor,
    Api,
    ApiAuth,
    ApiPlayground,
    Background,
    CallToAction,
    Colors,
    Group,
    ModeToggle,
    PrimaryTab,
    Tab,
    TopAnchor,
    TopbarLink,
    Version,
)
from tenantry_site.config.quoting import quoted
from tenantry_site.config.tree import Object

_SHOWN: dict[type, tuple[str, ...]] = {CallToAction: ("name", "url"), Api: ("baseUrl",), Colors: ("primary",)}
"""The fields that a form shows, where they are not the required ones or, without any, the first two."""

_BARE: dict[type, str] = {
    Anchor: "url",
    Api: "baseUrl",
    ApiAuth: "method",
    ApiPlayground: "mode",
    Background: "light",
    CallToAction: "url",
    Colors: "primary",
    Group: "pages",
    ModeToggle: "default",
    PrimaryTab: "name",
    Tab: "url",
    TopAnchor: "name",
    TopbarLink: "url",
    Version: "name",
}
"""The field that a string in the place of the object was probably meant for."""


def form(part: type[BaseModel], value: Any = None) -> str:
    """An object of the part with its most important fields, and with the value where it probably belongs."""
    needed = [info.alias or name for name, info in part.model_fields.items() if info.is_required()]
    shown = _SHOWN.get(part) or needed or [info.alias or name for name, info in part.model_fields.items()][:2]
    is_number = part is Version and isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)
    bare = _BARE.get(part) if (isinstance(value, str) and value) or is_number else None
    if bare is not None and bare not in shown:
        shown = (bare,)
    given = value if isinstance(value, str) else repr(value)
    text = f"[ {quoted(given)} ]" if part is Group else quoted(given)
    return "{ " + ", ".join(f'"{key}": {text if key == bare else "…"}' for key in shown) + " }"


def in_a_list(part: type[BaseModel] | None, value: Any, *, of_texts: bool) -> str:
    """What to write for a value that is no list. ``of_texts``: the list may hold strings."""
    keys = {info.alias or name for name, info in part.model_fields.items()} if part is not None else set()
    if (of_texts and isinstance(value, str) and value) or (isinstance(value, Object) and value.keys() & keys):
        return "put it in [ ]"
    one = '"…"' if of_texts or part is None else form(part, value)
    return f"write a list: [ {one} ]"
