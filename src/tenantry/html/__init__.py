"""Templates that escape a tenant's values, and fail if one is missing."""

from tenantry.html.filters import install_tojson, to_json
from tenantry.html.sandbox import MAX_OUTPUT, create_environment
from tenantry.html.template import HTMLTemplate, context_processor

__all__ = [
    "MAX_OUTPUT",
    "HTMLTemplate",
    "context_processor",
    "create_environment",
    "install_tojson",
    "to_json",
]
