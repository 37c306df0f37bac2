"""Names for FastAPI apps, defined in ``tenantry.middleware.fastapi``. Needs FastAPI."""

from tenantry.middleware import CurrentGroup as CurrentGroup
from tenantry.middleware import CurrentVariables as CurrentVariables
from tenantry.middleware import add_security_schemes as add_security_schemes
from tenantry.middleware import security_schemes as security_schemes

__all__ = ["CurrentGroup", "CurrentVariables", "add_security_schemes", "security_schemes"]
