"""Session variables for row-level security policies (docs/row-level-security.md), filled only from the group's
variables."""

from __future__ import annotations

from tenantry.datasources.driver import query_error, statement_error
from tenantry.errors import MissingVariable, NotOneStatement, QueryFailed, UnbindableValue
from tenantry.groups import RegisteredSource, UserGroup, check_session_variables
from tenantry.sql import DIALECTS, BoundSQL, SQLTemplate, calls_any, has_dynamic_sql
from tenantry.sql.dialects import UNICODE_NAMES, function_names

_SETTERS = (function_names("set_config", attributes=True, escaped_names=UNICODE_NAMES),)


class SessionTemplate:
    """A source's compiled session variables. Raises InvalidSource if the engine has no session variables."""

    def __init__(self, source: RegisteredSource) -> None:
        self._source_id = source.id
        variables = check_session_variables(
            source.url, source.session
        )  # checked again, because the row may be older than the rules
        calls = ", ".join(f"set_config('{name}', '{tag}', true)" for name, tag in variables)
        self._template = SQLTemplate(f"select {calls}", "postgresql")

    def bind(self, group: UserGroup) -> BoundSQL:
        """Return the statement that sets the session variables for one transaction. Raises MissingVariable if the group
        lacks a property. Raises UnbindableValue for a list, an object, or an empty string, which databases treat as
        unset."""
        missing: MissingVariable | None = None
        try:
            bound = self._template.bind(group.variables)
        except MissingVariable as error:
            missing = error
        if missing is not None:
            raise MissingVariable(
                f"user group {group.provided_id!r} lacks properties that the session variables of data source "
                f"{self._source_id} need: {', '.join(missing.names)}; the query was not run",
                names=missing.names,
            )
        if "" in (bound.params or ()):
            raise UnbindableValue(
                f"for user group {group.provided_id!r}, a session variable of data source {self._source_id} would be "
                "an empty string, which the database treats as unset: change the property that fills the variable",
                name="$",
            )
        return bound


def session_escape_error(source_id: str, sql: str) -> NotOneStatement | QueryFailed | None:
    """Return an error if the SQL calls a built-in function that could change session variables.

    User-defined functions are not checked: revoke ``execute`` on them (docs/row-level-security.md).
    """
    if calls_any(sql, DIALECTS["postgresql"], _SETTERS):
        return statement_error(
            source_id,
            "it calls set_config (or a name in Unicode escapes that could be set_config), which could change the "
            "session variables that choose the rows: read session variables with current_setting('name')",
        )
    if has_dynamic_sql(sql, "postgresql"):
        return query_error(
            source_id,
            "it calls a function that runs a string as SQL (ts_stat, dblink, …), and that string could set the "
            "session variables that choose the rows: write the SQL of the string as the query",
        )
    return None
