"""SQL templates: values become bound parameters, never SQL (docs/sql.md)."""

from tenantry.sql.binding.bindable_values import is_absent as is_absent
from tenantry.sql.binding.bindable_values import look_up as look_up
from tenantry.sql.binding.bound_sql import BoundSQL
from tenantry.sql.binding.bound_sql import TracedSQL as TracedSQL
from tenantry.sql.binding.bound_sql import digest as digest
from tenantry.sql.binding.paramstyles import PARAMSTYLES
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.fragments.fragment_tags import FRAGMENT_NAME as FRAGMENT_NAME
from tenantry.sql.fragments.fragment_tags import MAY_INCLUDE as MAY_INCLUDE
from tenantry.sql.lexing.lexemes import VARIABLE_PATH as VARIABLE_PATH
from tenantry.sql.parameters.declared import Parameter
from tenantry.sql.parameters.definitions import declare
from tenantry.sql.parsing.dynamic_sql import calls_any as calls_any
from tenantry.sql.parsing.dynamic_sql import has_dynamic_sql as has_dynamic_sql
from tenantry.sql.query_file import Query
from tenantry.sql.source import MAX_TEXT as MAX_TEXT
from tenantry.sql.source import Source as Source
from tenantry.sql.syntax_tree import AppliedGuard as AppliedGuard
from tenantry.sql.syntax_tree import Position
from tenantry.sql.syntax_tree import VariableReference as VariableReference
from tenantry.sql.template import SQLTemplate, Variable
from tenantry.sql.tenant_guard import is_viewer_input as is_viewer_input
from tenantry.sql.text_cache import cached_by_text as cached_by_text

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
