from __future__ import annotations

from collections.abc import Iterator

from tenantry.sql.dialects import Dialect
from tenantry.sql.guarding.masked_sql import mask
from tenantry.sql.guarding.names import Path, key_of
from tenantry.sql.guarding.reading import located
from tenantry.sql.guarding.rendered_text import combinations, render
from tenantry.sql.guarding.statement import read_statement
from tenantry.sql.template import SQLTemplate, dialect_of, tree_of


def named_tables(template: SQLTemplate) -> tuple[str, ...]:
    """Return the names of the tables that a template reads, in the form that ``tables.yaml`` takes.

    Raises TemplateError if the tables cannot be determined, or if sqlglot is not installed.
    """
    dialect = dialect_of(template)
    found: dict[tuple[str, ...], Path] = {}
    for path in _paths(template, dialect):
        found.setdefault(key_of(path, dialect), path)
    return tuple(".".join(f'"{part.text}"' if part.quoted else part.text for part in path) for path in found.values())


def names_tables(template: SQLTemplate) -> bool:
    """Whether a template names a table. Raises the errors of ``named_tables``."""
    return any(True for _ in _paths(template, dialect_of(template)))


def _paths(template: SQLTemplate, dialect: Dialect) -> Iterator[Path]:
    tree = tree_of(template, dialect.name)
    for decide in combinations(tree.nodes, every=True):
        rendered = render(tree.nodes, decide)
        with located(tree.source, rendered):
            for use in read_statement(mask(rendered.sql, dialect), dialect).tables:
                yield use.path
