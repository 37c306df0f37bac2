"""Tenantry: the tenancy layer of embedded dashboards.

Public names are imported when first used, so ``import tenantry`` loads no driver, web framework or SQLAlchemy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.dashboards import DashboardFolder, dashboard, error_handler, mount_dashboards
    from tenantry.dashboards.embedding import Embedding
    from tenantry.datasources import DataSources, QueryFolder, stop_on_signals
    from tenantry.errors import TenantryError
    from tenantry.groups import RESERVED_NAMES, Environment, Record, RecordList, Tag, Token, UserGroup, Viewer
    from tenantry.html import HTMLTemplate, context_processor
    from tenantry.http import user_group, variables, while_connected
    from tenantry.middleware import UserGroupMiddleware
    from tenantry.resolver import Resolver
    from tenantry.tokens.keys import SigningKeys
    from tenantry.tokens.minting import mint_pass
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.dashboards": "DashboardFolder dashboard error_handler mount_dashboards",
            "tenantry.dashboards.embedding": "Embedding",
            "tenantry.datasources": "DataSources QueryFolder stop_on_signals",
            "tenantry.errors": "TenantryError",
            "tenantry.groups": "Environment RESERVED_NAMES Record RecordList Tag Token UserGroup Viewer",
            "tenantry.html": "HTMLTemplate context_processor",
            "tenantry.http": "user_group variables while_connected",
            "tenantry.middleware": "UserGroupMiddleware",
            "tenantry.resolver": "Resolver",
            "tenantry.tokens.keys": "SigningKeys",
            "tenantry.tokens.minting": "mint_pass",
        },
    )

__version__ = "0.1.0"

__all__ = [
    "RESERVED_NAMES",
    "DashboardFolder",
    "DataSources",
    "Embedding",
    "Environment",
    "HTMLTemplate",
    "QueryFolder",
    "Record",
    "RecordList",
    "Resolver",
    "SigningKeys",
    "Tag",
    "TenantryError",
    "Token",
    "UserGroup",
    "UserGroupMiddleware",
    "Viewer",
    "__version__",
    "context_processor",
    "dashboard",
    "error_handler",
    "mint_pass",
    "mount_dashboards",
    "stop_on_signals",
    "user_group",
    "variables",
    "while_connected",
]
