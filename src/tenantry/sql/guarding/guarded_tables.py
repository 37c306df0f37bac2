"""GuardedTables: a declaration that guards templates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tenantry.sql.dialects import Dialect, dialect_named
from tenantry.sql.guarding.declaration import Declaration
from tenantry.sql.guarding.guards import Guards
from tenantry.sql.guarding.rewriting import rewrite_condition, rewrite_tree
from tenantry.sql.syntax_tree import Tree
from tenantry.sql.template import SQLTemplate


@dataclass(frozen=True, slots=True)
class GuardedTables(Declaration):
    """The tables of a data source. Equal declarations are equal, and have the same hash.

    ``SQLTemplate.guarded`` applies them to a template.
    """

    def rewrite(self, tree: Tree, dialect: Dialect) -> Tree:
        """Return the tree with the guards in place of the tables. Raises TemplateError for SQL that cannot be
        proved."""
        return rewrite_tree(tree, _guards(self, dialect.name))

    def proof_queries(self, dialect: str | Dialect) -> tuple[SQLTemplate, ...]:
        """Return a query of no rows for each guarded table. A data source runs them at first connect, because an
        engine could read a wrong column from the query around the guard.

        Raises TemplateError for a condition that is not SQL of the dialect.
        """
        name = dialect if isinstance(dialect, str) else dialect.name
        guards = _guards(self, dialect_named(name).name)
        texts = [guards.proof_query(entry) for entry in self.entries if not entry.is_shared]
        return tuple(SQLTemplate(text, name).guarded(self) for text in texts)


@lru_cache(maxsize=64)
def _guards(tables: GuardedTables, dialect: str) -> Guards:
    return Guards(tables, dialect_named(dialect), rewrite_condition)
