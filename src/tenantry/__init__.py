"""Tenantry: the tenancy layer of embedded dashboards.

The public names. They are loaded when they are first asked for, so that ``import tenantry`` loads no driver, no web
framework and no SQLAlchemy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.dashboards.embedding.routes import Embedding
    from tenantry.dashboards.endpoint import dashboard, error_handler
    from tenantry.dashboards.folder import DashboardFolder
    from tenantry.dashboards.mount import mount_dashboards
    from tenantry.datasources import DataSources, stop_on_signals
    from tenantry.datasources.query_folder import QueryFolder
    from tenantry.errors import TenantryError
    from tenantry.groups import RESERVED_NAMES, Environment, Record, RecordList, Tag, Token, UserGroup
    from tenantry.html import HTMLTemplate, context_processor
    from tenantry.http.accessors import user_group, variables
    from tenantry.http.viewers import while_connected
    from tenantry.middleware import UserGroupMiddleware
    from tenantry.resolver import Resolver
    from tenantry.tokens.keys import SigningKeys
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "DashboardFolder": "tenantry.dashboards.folder",
            "DataSources": "tenantry.datasources",
            "Embedding": "tenantry.dashboards.embedding.routes",
            "Environment": "tenantry.groups",
            "HTMLTemplate": "tenantry.html",
            "QueryFolder": "tenantry.datasources.query_folder",
            "RESERVED_NAMES": "tenantry.groups",
            "Record": "tenantry.groups",
            "RecordList": "tenantry.groups",
            "Resolver": "tenantry.resolver",
            "SigningKeys": "tenantry.tokens.keys",
            "Tag": "tenantry.groups",
            "TenantryError": "tenantry.errors",
            "Token": "tenantry.groups",
            "UserGroup": "tenantry.groups",
            "UserGroupMiddleware": "tenantry.middleware",
            "context_processor": "tenantry.html",
            "dashboard": "tenantry.dashboards.endpoint",
            "error_handler": "tenantry.dashboards.endpoint",
            "mount_dashboards": "tenantry.dashboards.mount",
            "stop_on_signals": "tenantry.datasources",
            "user_group": "tenantry.http.accessors",
            "variables": "tenantry.http.accessors",
            "while_connected": "tenantry.http.viewers",
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
    "__version__",
    "context_processor",
    "dashboard",
    "error_handler",
    "mount_dashboards",
    "stop_on_signals",
    "user_group",
    "variables",
    "while_connected",
]
