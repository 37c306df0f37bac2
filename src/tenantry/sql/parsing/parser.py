from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from tenantry.sql.binding.paramstyles import find_placeholder_conflicts
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import LexemeKind
from tenantry.sql.lexing.tags import flatten
from tenantry.sql.parameters.declared import Parameter
from tenantry.sql.parsing.clause_brackets import read_lexemes
from tenantry.sql.parsing.dynamic_sql import check_column_names, check_dynamic_sql
from tenantry.sql.parsing.optional_clauses import check_clauses
from tenantry.sql.parsing.tree_builder import MAX_CLAUSE_DEPTH, MAX_TAGS, TreeBuilder
from tenantry.sql.parsing.vanishing import check_vanishing
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import InertTag, Tree

__all__ = ["MAX_CLAUSE_DEPTH", "MAX_TAGS", "parse"]

_INERT = re.compile(r"(?<!\\)\{\{[^{}]*+\}\}")  # innermost tags only


def parse(
    source: Source,
    dialect: Dialect,
    optional: AbstractSet[str] = frozenset(),
    parameters: Mapping[str, Parameter] = MappingProxyType({}),
) -> Tree:
    """Parse a template. Raises TemplateError."""
    lexemes = read_lexemes(source, dialect)
    in_a_row = list(flatten(source, lexemes)) if any(lexeme.parts for lexeme in lexemes) else lexemes
    check_dynamic_sql(source, dialect, in_a_row)
    check_column_names(source, dialect, in_a_row)
    if "[[" in source.text or in_a_row is not lexemes:
        check_clauses(source, in_a_row)
    conflicts = find_placeholder_conflicts(source.text, in_a_row)
    builder = TreeBuilder(source, dialect, optional, parameters)
    nodes = builder.build(lexemes)
    check_vanishing(source, dialect, parameters)
    comments = (lexeme for lexeme in lexemes if lexeme.kind is LexemeKind.COMMENT)
    inert = (match for each in comments for match in _INERT.finditer(source.text, each.start, each.end))
    inert_tags = tuple(InertTag(match.group(), match.start()) for match in inert)
    return Tree(nodes, tuple(builder.references), conflicts, source, inert_tags)
