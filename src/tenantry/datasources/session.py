"""Session variables: what a source tells its database about the group, in the transaction of each query.

Policies of row-level security read them (docs/row-level-security.md). They come from the group itself, never from a
caller's variables, and a group that lacks one of them gets no query.
"""

from __future__ import annotations

from tenantry.datasources.driver import query_error, statement_error
from tenantry.errors import MissingVariable, NotOneStatement, QueryFailed, UnbindableValue
from tenantry.groups import RegisteredSource, UserGroup, check_session_variables
from tenantry.sql import DIALECTS, BoundSQL, SQLTemplate, calls_any, has_dynamic_sql
from tenantry.sql.dialects import UNICODE_NAMES, function_names

_SETTERS = (function_names("set_config", attributes=True, escaped_names=UNICODE_NAMES),)


class SessionTemplate:
    """The compiled session variables of a source. Raises InvalidSource where its engine has none."""

    def __init__(self, source: RegisteredSource) -> None:
        self._source_id = source.id
        variables = check_session_variables(source.url, source.session)  # again: the row may be older than a rule
        calls = ", ".join(f"set_config('{name}', '{tag}', true)" for name, tag in variables)
        self._template = SQLTemplate(f"select {calls}", "postgresql")

    def bind(self, group: UserGroup) -> BoundSQL:
        """The statement that sets them for a group, in the transaction alone. Raises MissingVariable; UnbindableValue
        for a value that is empty or not a scalar, because to the database an empty variable is unset."""
        missing: MissingVariable | None = None
        try:
            bound = self._template.bind(group.variables)
        except MissingVariable as error:
            missing = error
        if missing is not None:
            raise MissingVariable(
                f"user group {group.provided_id!r} lacks what the session variables of data source {self._source_id} "
                f"are set from: {', '.join(missing.names)}; nothing was run",
                names=missing.names,
            )
        if "" in (bound.params or ()):
            raise UnbindableValue(
                f"for user group {group.provided_id!r} a session variable of data source {self._source_id} would be an "
                "empty text, which to the database is one that nobody set",
                name="$",
            )
        return bound


def session_escape_error(source_id: str, sql: str) -> NotOneStatement | QueryFailed | None:
    """The error for SQL that could set another group's session variables, as far as the database's own functions go;
    None without one."""
    if calls_any(sql, DIALECTS["postgresql"], _SETTERS):
        return statement_error(
            source_id,
            "it calls set_config, or has a name in Unicode escapes that could be it, and the session variables of this "
            "source choose the rows: read them with current_setting('name')",
        )
    if has_dynamic_sql(sql, "postgresql"):
        return query_error(
            source_id,
            "it calls a function that runs a text as SQL (ts_stat, dblink, …), and that text could set the "
            "session variables of this source, which choose the rows: write the query itself",
        )
    return None
