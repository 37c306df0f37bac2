"""FastAPI: the public names of ``tenantry.middleware.fastapi``, the one module that needs FastAPI."""

from tenantry.middleware.fastapi import CurrentGroup as CurrentGroup
from tenantry.middleware.fastapi import CurrentVariables as CurrentVariables
from tenantry.middleware.fastapi import add_security_schemes as add_security_schemes
from tenantry.middleware.fastapi import security_schemes as security_schemes

__all__ = ["CurrentGroup", "CurrentVariables", "add_security_schemes", "security_schemes"]
