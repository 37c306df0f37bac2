"""Checks of queries whose tables are not guarded."""

from __future__ import annotations

from dataclasses import replace

from tenantry.errors import TemplateError
from tenantry.sql.checks.findings import Finding, Severity
from tenantry.sql.checks.selects import selects_of
from tenantry.sql.guarding import names_tables
from tenantry.sql.parsing.outline import read_outline
from tenantry.sql.query_file import Query
from tenantry.sql.template import SQLTemplate, dialect_of, tree_of

_FIX = "declare the tables in tables.yaml: then the query, without a change, reads only the customer's rows"
_OR = "or, if every customer may read these rows, write the reason in the header: `tenant: {none: REASON}`"


def reads_every_customer(template: SQLTemplate) -> Finding | None:
    """Return a finding if the query reads tables but uses no value of the group.

    Returns None if the query does not compile, or if its header says ``tenant: {none: REASON}``.
    """
    header = template.definition.header
    try:
        if header.no_tenant or _uses_group(template) or not reads_tables(template):
            return None
    except TemplateError:
        return None
    at = template.definition.source.location(header.end)
    message = "this query uses no value of the group, so it reads every customer's rows"
    found = Finding("every-customer", Severity.ERROR, at.line, at.column, message, _FIX, file=at.file)
    return replace(found, fix=f"{_FIX}; {_OR}") if isinstance(template, Query) else found


def _uses_group(template: SQLTemplate) -> bool:
    # Viewers of two customers may have the same values.
    of_group = (each for each in template.variables if each.path.partition(".")[0] != "viewer")
    return any(each.guarded and not each.not_a_filter for each in of_group)


def reads_tables(template: SQLTemplate) -> bool:
    """Whether the query reads tables. Raises TemplateError if it does not compile."""
    try:
        return names_tables(template)
    except TemplateError:  # sqlglot is not installed, or cannot read it
        dialect = dialect_of(template)
        tree = tree_of(template, dialect.name)
        selects = list(selects_of(read_outline(tree.source, dialect, tree.references)))
        return not selects or any("from" in select for select in selects)
