"""Sample input fits each parameter, whatever its type and its limits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tenantry.sql.parameters import declare, sample_input, typed_value
from tenantry.sql.parameters.declared import RANGES, ParameterType

CHOICES: dict[str, Any] = {"choice": ["eu", "us"], "date range": ["last 7 days"], "relative range": ["today"]}
LIMITS: dict[str, tuple[Any, Any]] = {
    "integer": (-5, -3),
    "decimal": (0.5, 0.75),
    "date": ("2020-01-01", "2020-01-01"),
    "datetime": ("2020-01-01T10:00", "2020-01-02T10:00"),
    "interval": ("1 hour", "90 minutes"),
    "date range": ("2020-01-01", "2020-01-01"),
    "datetime range": ("2020-01-01T10:00", "2020-01-03T10:00"),
}
DEFINITIONS = [
    *({"type": str(each)} for each in ParameterType if each is not ParameterType.CHOICE),
    *({"type": f"list of {each}"} for each in ParameterType if each not in {*RANGES, ParameterType.CHOICE}),
    *({"type": kind, "choices": choices} for kind, choices in CHOICES.items()),
    *({"type": kind, "min": least, "max": greatest} for kind, (least, greatest) in LIMITS.items()),
    *({"type": kind, "min": least} for kind, (least, _) in LIMITS.items()),
    *({"type": kind, "max": greatest} for kind, (_, greatest) in LIMITS.items()),
    {"type": "text", "max_length": 1},
    {"type": "list of text", "max_items": 1},
]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=str)
def test_a_sample_is_input_that_its_parameter_accepts(definition: dict[str, Any]) -> None:
    """Red when limits are not looked at: a range or a number outside of them is refused."""
    parameters = declare({"x": {**definition, "required": True}})
    given = sample_input(parameters.values())
    assert typed_value(parameters["x"], {"params": given}, datetime.now(UTC)) is not None


def test_what_has_a_value_or_takes_none_gets_no_sample() -> None:
    """A default is what a viewer sees first; a locked parameter refuses input."""
    locked = {"type": "text", "locked": True, "default": {"property": "region"}}
    parameters = declare({"a": locked, "b": {"type": "integer", "default": 3}, "c": "text"})
    assert sample_input(parameters.values()) == {"c": "1"}
