"""Query parameters. Errors name the parameter and never repeat its value."""

from __future__ import annotations

from tenantry.errors import BadRequest, InvalidBody
from tenantry.provisioning.limits import check_text


def read_text(parameters: dict[str, str], name: str) -> str | None:
    """The parameter, or None. Raises BadRequest unless it can be an id or name."""
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
    """Raises BadRequest."""
    text = parameters.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise BadRequest(f"the query parameter {name} must be a whole number from {least} to {most}")
    return int(text)


def read_flag(parameters: dict[str, str], name: str) -> bool:
    """Whether the parameter is ``true``. Absent means False. Raises BadRequest."""
    match parameters.get(name, "false"):
        case "true" | "false" as value:
            return value == "true"
    raise BadRequest(f"the query parameter {name} must be true or false")
