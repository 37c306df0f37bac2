"""HTMLTemplate: one page of HTML, compiled once, rendered with a group's variables; and context_processor, which gives
the same variables to an app's own Jinja templates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import jinja2

from tenantry.errors import MissingToken
from tenantry.groups import RESERVED_NAMES, Record
from tenantry.html.sandbox import create_environment
from tenantry.html.views import VARIABLES, Missing, wrap
from tenantry.http import Connection
from tenantry.http import variables as request_variables


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


def context_processor(request: Connection) -> dict[str, Any]:
    """``user_group`` and ``params`` for the templates of a Starlette or FastAPI app, and nothing else.

    ``Jinja2Templates(directory="templates", context_processors=[context_processor])``. No property overwrites a name
    of the app. A missing name raises MissingVariable when it is used, in any environment; but what Jinja does with an
    attribute of a plain value (``region.code`` where ``region`` is text or null) is the environment's own affair, so
    prefer ``Jinja2Templates(env=create_environment(loader), context_processors=[context_processor])``.

    On a request without a group every use of the two names raises MissingToken, so that public pages render
    (``user_group is defined`` is false). Raises MiddlewareMissing where UserGroupMiddleware is not installed.
    """
    try:
        view = wrap(request_variables(request))
    except MissingToken as error:
        return {name: Missing(error.message, name=name, exc=MissingToken) for name in ("user_group", "params")}
    return {name: view[name] for name in ("user_group", "params")}


@cache
def _environment(*, enable_async: bool) -> jinja2.Environment:
    return create_environment(enable_async=enable_async)


def _names(variables: Mapping[str, Any] | Record, view: dict[str, Any]) -> dict[str, Any]:
    if taken := RESERVED_NAMES & view.keys():
        raise TypeError(f"a view cannot set {', '.join(sorted(taken))}: the name belongs to the group's variables")
    wrapped = wrap(variables)
    return {**view, **{name: wrapped[name] for name in RESERVED_NAMES if name in wrapped}, VARIABLES: wrapped}
