"""The public functions and classes for tools that read, write or check SQL templates (docs/sql-checks.md).

Import these names only from this module. Other modules may move.
"""

from tenantry.sql.checks.findings import Finding, Severity
from tenantry.sql.checks.lint import lint
from tenantry.sql.dialects import Dialect, dialect_named
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.parameters.declared import InvalidDefinition
from tenantry.sql.source import Source
from tenantry.sql.template import DEFAULT_DIALECT

__all__ = [
    "DEFAULT_DIALECT",
    "Dialect",
    "Finding",
    "InvalidDefinition",
    "Lexeme",
    "LexemeKind",
    "Severity",
    "Source",
    "dialect_named",
    "lex",
    "lint",
]
