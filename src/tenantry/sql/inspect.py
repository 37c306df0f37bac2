"""The façade for tools that read, write or check SQL templates, such as converters and editors (docs/sql-checks.md).

- To read SQL, ``lex`` cuts a ``Source`` into ``Lexeme`` objects by the rules of a ``Dialect``.
- To find mistakes, ``lint`` returns the ``Finding`` objects of a template, each with a ``Severity``.
- ``dialect_named`` finds a dialect; ``DEFAULT_DIALECT`` is the one of a template that names none.
- ``InvalidDefinition`` is the error of a malformed parameter; its ``keys`` say where.

Templates themselves are in ``tenantry.sql``. Import from these two packages only; other modules may move.
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
