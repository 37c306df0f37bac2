"""What the tests of HTMLTemplate share: a text, drawn for a group."""

from __future__ import annotations

from typing import Any

from tenantry.groups import extend
from tenantry.html import HTMLTemplate
from tenantry.testing import make_group


def render(
    text: str, properties: dict[str, Any] | None = None, params: dict[str, Any] | None = None, **view: Any
) -> str:
    variables = extend(make_group(properties=properties).variables, "params", params or {})
    return HTMLTemplate(text).render(variables, **view)
