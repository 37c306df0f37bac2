"""Dashboards as they are written: the file, what it may hold, and variables in its texts. No I/O."""

from tenantry.dashboards.definition.variables import MAX_DEPTH, Definition, VariablePath, substitute

__all__ = ["MAX_DEPTH", "Definition", "VariablePath", "substitute"]
