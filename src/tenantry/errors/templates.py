"""Errors of templates: of their text, and of the variables that they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenantry.errors.root import TenantryError


@dataclass(frozen=True, slots=True)
class Location:
    """Where in a template something stands: ``line`` and ``column`` count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class TemplateError(TenantryError):
    """A template cannot be compiled, or not be rendered to its end. ``location`` is where; the message says the fix."""

    code, status = "template_error", 500

    def __init__(self, message: str, *, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location


class MissingVariable(TenantryError):
    """A template names variables that this group or view does not have. ``names`` lists all of them."""

    code, status = "missing_variable", 422

    def __init__(self, message: str, *, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names = tuple(names)


class UnbindableValue(TenantryError):
    """A variable's value cannot stand where the template names it: an object for a scalar, a NUL, an infinite float."""

    code, status = "unbindable_value", 422

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name
