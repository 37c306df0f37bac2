"""HTMLTemplate: one page of HTML, compiled once, rendered with a group's variables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import jinja2

from tenantry.groups import RESERVED_NAMES, Record
from tenantry.html.context import VARIABLES
from tenantry.html.sandbox import create_environment
from tenantry.html.shown import show


class HTMLTemplate:
    """A template in the environment of ``create_environment``. Raises TemplateError when it cannot be compiled."""

    __slots__ = ("_asynchronous", "_template", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._template = _environment(enable_async=False).from_string(text)
        self._asynchronous: jinja2.Template | None = None

    def render(self, variables: Mapping[str, Any] | Record, /, **view: Any) -> str:
        """The page. ``variables`` are those of a group (``variables(request)``) or any mapping; ``view`` adds names.

        A name in ``view`` hides a property of that name, never ``user_group`` or ``params`` (TypeError).
        Raises MissingVariable, UnbindableValue, TemplateError.
        """
        return self._template.render(_names(variables, view))

    async def render_async(self, variables: Mapping[str, Any] | Record, /, **view: Any) -> str:
        """As ``render``; what ``view`` gives may also be awaitables, coroutine functions and asynchronous iterators."""
        if self._asynchronous is None:
            self._asynchronous = _environment(enable_async=True).from_string(self._text)
        return await self._asynchronous.render_async(_names(variables, view))

    def __repr__(self) -> str:
        return f"<HTMLTemplate of {len(self._text)} characters>"


@cache
def _environment(*, enable_async: bool) -> jinja2.Environment:
    return create_environment(enable_async=enable_async)


def _names(variables: Mapping[str, Any] | Record, view: dict[str, Any]) -> dict[str, Any]:
    if taken := RESERVED_NAMES & view.keys():
        raise TypeError(f"a view cannot set {', '.join(sorted(taken))}: the name belongs to the group's variables")
    shown = show(variables)
    return {**view, **{name: shown[name] for name in RESERVED_NAMES if name in shown}, VARIABLES: shown}
