"""How a template finds a name, and what a foreign Jinja environment is given."""

from __future__ import annotations

from typing import Any

from jinja2 import Undefined
from jinja2.runtime import Context
from jinja2.utils import missing

from tenantry.accessors import variables
from tenantry.errors import MissingToken
from tenantry.html.shown import Missing, ShownRecord, show
from tenantry.http.connection import Connection

VARIABLES = "tenantry.variables"
"""Where ``HTMLTemplate.render`` keeps the variables in a context: no template can write this name."""


class VariablesContext(Context):
    """A context in which a bare name that nobody set is the group's property."""

    def resolve_or_missing(self, key: str) -> Any:
        """The value of a name, or Jinja's ``missing``."""
        value = super().resolve_or_missing(key)
        return self._variable(key) if value is missing else value

    def _variable(self, key: str) -> Any:
        source = self.parent.get(VARIABLES)
        if source is None:
            user_group = self.parent.get("user_group")
            if isinstance(user_group, Undefined):
                return user_group  # there is no group: the error is about its token, not about this name
            source = user_group["properties"] if isinstance(user_group, ShownRecord) else None
        return source[key] if isinstance(source, ShownRecord) and key in source else missing


def context_processor(request: Connection) -> dict[str, Any]:
    """``user_group`` and ``params`` for the templates of a Starlette or FastAPI app, and nothing else.

    ``Jinja2Templates(directory="templates", context_processors=[context_processor])``. No property overwrites a name
    of the app. A missing name raises MissingVariable when it is used, in any environment; but what Jinja does with an
    attribute of a plain value (``region.code`` where ``region`` is text or null) is the environment's own affair, so
    prefer ``Jinja2Templates(env=create_environment(loader), context_processors=[context_processor])``.

    On a request without a group both names stand for something whose every use raises MissingToken, so that public
    pages render (``user_group is defined`` tells). Raises MiddlewareMissing where UserGroupMiddleware is not installed.
    """
    try:
        shown = show(variables(request))
    except MissingToken as error:
        return {name: Missing(error.message, name=name, exc=MissingToken) for name in ("user_group", "params")}
    return {name: shown[name] for name in ("user_group", "params")}
