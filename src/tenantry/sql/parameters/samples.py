from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

from tenantry.sql.parameters.declared import TEXTS, Parameter, ParameterType, spell

_DAY: Final = timedelta(days=1)
_TEXT: Final = "1"  # a database can also read it as a number
_SAMPLES: Final[Mapping[ParameterType, str]] = {
    ParameterType.INTEGER: "1",
    ParameterType.DECIMAL: "1",
    ParameterType.BOOLEAN: "true",
    ParameterType.DATE: "2026-01-01",
    ParameterType.DATETIME: "2026-01-01T00:00",
    ParameterType.UUID: "00000000-0000-4000-8000-000000000000",
    ParameterType.INTERVAL: "1 day",
}


def sample_input(parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return valid input by parameter name. Parameters that are locked or have a default are left out."""
    return {each.name: _sample(each) for each in parameters if not each.locked and each.default is None}


def is_any_text(parameter: Parameter) -> bool:
    """Whether the parameter accepts any string. If so, the sample string may not fit the column."""
    return parameter.type in TEXTS and parameter.choices is None


def _sample(parameter: Parameter) -> Any:
    if parameter.choices:
        one: Any = spell(parameter.choices[0])
    elif parameter.is_range:
        one = _range(parameter)
    else:
        limit = parameter.max if parameter.min is None else parameter.min
        one = _SAMPLES.get(parameter.type, _TEXT) if limit is None else _written(limit)
    return [one] if parameter.is_list else one


def _range(parameter: Parameter) -> Any:
    least, greatest = parameter.min, parameter.max
    if least is None and greatest is None:
        return "last 30 days"
    ends = (greatest - _DAY if least is None else least, least + _DAY if greatest is None else greatest)
    return dict(zip(("start", "end"), map(spell, ends), strict=True))


def _written(limit: Any) -> str:
    return f"{limit.total_seconds():f} seconds" if isinstance(limit, timedelta) else spell(limit)
