"""SQL around the author's select: its columns, its plan, its reduced rows."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.datasources.wrapped.no_rows import NoRowsTemplate as NoRowsTemplate
    from tenantry.datasources.wrapped.reduced_rows import ColumnTypesTemplate as ColumnTypesTemplate
    from tenantry.datasources.wrapped.reduced_rows import ReducedTemplate as ReducedTemplate
    from tenantry.datasources.wrapped.reduced_rows import reduced_answer as reduced_answer
    from tenantry.datasources.wrapped.wrapped_template import WrappedTemplate as WrappedTemplate
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.datasources.wrapped.no_rows": "NoRowsTemplate",
            "tenantry.datasources.wrapped.reduced_rows": "ColumnTypesTemplate ReducedTemplate reduced_answer",
            "tenantry.datasources.wrapped.wrapped_template": "WrappedTemplate",
        },
    )
