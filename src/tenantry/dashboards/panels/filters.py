from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from tenantry.dashboards.folder import SavedDashboard
from tenantry.errors import InvalidParameter, did_you_mean
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.parameters import Parameter, ParameterConversion, is_empty

_LONGEST_NAME: Final = 100
_PRESET: Final = "preset"
_ENDS: Final = frozenset({"start", "end"})


def read_filters(saved: SavedDashboard, given: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a viewer's filters to the values of ``params``.

    A filter is a string, number, boolean, a list of these, ``{"preset": "last-30-days"}``, or ``{"start": "2026-01-01",
    "end": "2026-01-31"}``, where the last day is included. Null means the default; an empty string or list means no
    value. Raises InvalidParameter.
    """
    unknown = [name for name in given if name not in saved.settable]
    if unknown:
        shown = [name[:_LONGEST_NAME] for name in unknown]
        near = did_you_mean(shown[0], saved.offered).strip() or f"it has {', '.join(sorted(saved.offered)) or 'none'}"
        raise InvalidParameter(f"this dashboard has no filter {', '.join(shown)}; {near}", names=shown)
    controls = saved.dashboard.controls
    params: dict[str, Any] = {}
    for name, value in given.items():
        if not _is_absent(value):
            params[name] = _plain(name, value)
        elif value is not None and name in controls:
            params |= _cleared(controls[name].parameter)
    chosen = {name: controls[name].parameter for name in params if name in controls}
    # Parameters that only queries declare are converted when each panel binds them.
    ParameterConversion(chosen).convert({"params": params}, DIALECTS["postgresql"], datetime.now(UTC))
    return params


def _cleared(parameter: Parameter) -> dict[str, Any]:
    if parameter.clearable:
        return {parameter.name: ""}
    if parameter.always_given:
        name = parameter.path
        raise InvalidParameter(f"{name} takes {parameter.takes}, and cannot be empty", names=[name])
    return {}


def _is_absent(value: Any) -> bool:
    values = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    return all(map(is_empty, values))


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.keys() == {_PRESET} and isinstance(value[_PRESET], str):
            return value[_PRESET]
        if value.keys() <= _ENDS and all(each is None or isinstance(each, str) for each in value.values()):
            return dict(value)
    elif not isinstance(value, list) or not any(isinstance(each, list | dict) for each in value):
        return value
    raise InvalidParameter(
        f"params.{name}: a filter must be a string, number or boolean, a list of these, an object with `preset`, or an "
        "object with `start` and `end`",
        names=[name],
    )
