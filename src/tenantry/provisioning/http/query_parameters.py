"""Reads query parameters. Errors name the parameter and never show its value."""

from __future__ import annotations

from tenantry.errors import BadRequest, InvalidBody
from tenantry.provisioning.limits import check_text


def read_text(parameters: dict[str, str], name: str) -> str | None:
    """The parameter's value, or None if absent. Raises BadRequest unless it is a valid id or name (``check_text``)."""
    text = parameters.get(name)
    if text is None:
        return None
    try:
        check_text(text, f"/{name}")
    except InvalidBody as error:
        reason = error.message
    else:
        return text
    raise BadRequest(f"the query parameter {name}: {reason}")


def read_number(parameters: dict[str, str], name: str, least: int, most: int, default: int) -> int:
    """The parameter's value. Raises BadRequest unless it is a whole number from ``least`` to ``most``."""
    text = parameters.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise BadRequest(f"the query parameter {name} must be a whole number from {least} to {most}")
    return int(text)


def read_flag(parameters: dict[str, str], name: str) -> bool:
    """Whether the parameter is ``true``; False if absent. Raises BadRequest unless it is ``true`` or ``false``."""
    match parameters.get(name, "false"):
        case "true" | "false" as value:
            return value == "true"
    raise BadRequest(f"the query parameter {name} must be true or false")
