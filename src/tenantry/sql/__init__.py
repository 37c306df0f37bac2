"""SQL templates: values become bound parameters and never SQL text (docs/sql.md)."""

from tenantry.sql.dialects import DIALECTS
from tenantry.sql.paramstyles import PARAMSTYLES, BoundSQL
from tenantry.sql.syntax_tree import Position
from tenantry.sql.template import SQLTemplate, Variable

__all__ = ["DIALECTS", "PARAMSTYLES", "BoundSQL", "Position", "SQLTemplate", "Variable"]
