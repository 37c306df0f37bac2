"""SQL templates: values become bound parameters and never SQL text (docs/sql.md)."""

from tenantry.sql.binding.paramstyles import PARAMSTYLES, BoundSQL
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.parameters.declared import Parameter
from tenantry.sql.parameters.definitions import declare
from tenantry.sql.query_file import Query
from tenantry.sql.syntax_tree import Position
from tenantry.sql.template import SQLTemplate, Variable

__all__ = [
    "DIALECTS",
    "PARAMSTYLES",
    "BoundSQL",
    "Parameter",
    "Position",
    "Query",
    "SQLTemplate",
    "Variable",
    "declare",
]
