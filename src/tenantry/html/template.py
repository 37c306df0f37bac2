from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import jinja2

from tenantry.errors import MissingToken
from tenantry.groups import RESERVED_NAMES, Record
from tenantry.html.proxies import VARIABLES, Missing, wrap
from tenantry.html.sandbox import create_environment
from tenantry.http import Connection
from tenantry.http import variables as request_variables


class HTMLTemplate:
    """A template with the rules of ``create_environment``. Raises TemplateError if the text does not compile."""

    __slots__ = ("_asynchronous", "_template", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._template = _environment(enable_async=False).from_string(text)
        self._asynchronous: jinja2.Template | None = None

    def render(self, variables: Mapping[str, Any] | Record, /, **view: Any) -> str:
        """Render the page. ``variables`` are a group's variables, or any mapping. A name in ``view`` hides the property
        of the same name. Raises TypeError if ``view`` sets ``user_group``, ``params`` or ``viewer``, MissingVariable
        for a missing value, UnbindableValue for one that cannot be printed, and TemplateError for other mistakes."""
        return self._template.render(_names(variables, view))

    async def render_async(self, variables: Mapping[str, Any] | Record, /, **view: Any) -> str:
        """Like ``render``, but ``view`` may contain awaitables, coroutine functions and asynchronous iterators."""
        if self._asynchronous is None:
            self._asynchronous = _environment(enable_async=True).from_string(self._text)
        return await self._asynchronous.render_async(_names(variables, view))

    def __repr__(self) -> str:
        return f"<HTMLTemplate of {len(self._text)} characters>"


def context_processor(request: Connection) -> dict[str, Any]:
    """Give an app's templates ``user_group``, ``params`` and ``viewer``: ``Jinja2Templates(directory="templates",
    context_processors=[context_processor])``.
    - A missing property, parameter or viewer attribute raises MissingVariable, and so does ``viewer`` if the request
      has a token, not a pass.
    - If the request has no group, ``user_group is defined`` is false, and each of the three names raises MissingToken.
    - Raises MiddlewareMissing without UserGroupMiddleware, and OutOfScope if the pass does not cover the request.

    Prefer ``Jinja2Templates(env=create_environment(loader), …)``: with a plain Jinja environment, a template can use
    all attributes of strings, numbers and lists."""
    try:
        view = wrap(request_variables(request))
    except MissingToken as error:
        return {name: Missing(error.message, name=name, exc=MissingToken) for name in RESERVED_NAMES}
    return {name: view[name] for name in RESERVED_NAMES}


@cache
def _environment(*, enable_async: bool) -> jinja2.Environment:
    return create_environment(enable_async=enable_async)


def _names(variables: Mapping[str, Any] | Record, view: dict[str, Any]) -> dict[str, Any]:
    if taken := RESERVED_NAMES & view.keys():
        raise TypeError(f"a view cannot set {', '.join(sorted(taken))}, which is reserved: use another name")
    wrapped = wrap(variables)
    return {**view, **{name: wrapped[name] for name in RESERVED_NAMES if name in wrapped}, VARIABLES: wrapped}
