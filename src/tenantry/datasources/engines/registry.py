"""Engine lookup by URL: host, built in, then entry points."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from sqlalchemy.engine import URL

from tenantry.datasources.driver import DeclaringDriver, Driver
from tenantry.datasources.engines.built_in import BUILT_IN
from tenantry.datasources.engines.engine import UNHELD, DriverFactory, Engine, enforcement_notes
from tenantry.datasources.pool.limits import Limits
from tenantry.datasources.url import parse_url
from tenantry.datasources.url_secrets.references import check_secrets
from tenantry.errors import InvalidSettings, InvalidSource
from tenantry.groups import RegisteredSource

ENGINE_GROUP: Final = "tenantry.engines"
"""The entry point group: URL scheme -> Engine."""

ANY_SCHEME: Final = "trusted"
"""The entry point for all other schemes of sources registered with ``--trusted``."""

BUILT_IN_NAMES: Final = sorted({each.name for each in BUILT_IN.values()})

_INSTALLED_BY: Final = {
    "snowflake": "'tenantry-warehouses[snowflake]'",
    "bigquery": "'tenantry-warehouses[bigquery]'",
    "databricks": "'tenantry-warehouses[databricks]'",
    ANY_SCHEME: "tenantry-warehouses",
}
"""Entry point -> the argument of ``pip install``."""

_log: Final = logging.getLogger(__name__)


def find_engine(url: URL, host: Mapping[str, Engine] | None = None, *, trusted: bool = False) -> Engine:
    """Return a URL's engine; ``host`` comes from ``host_engines``. Raises InvalidSource with the package to install."""
    scheme = url.get_backend_name()
    engine = (host or {}).get(scheme) or BUILT_IN.get(scheme) or _added(scheme)
    if engine is None and scheme not in _INSTALLED_BY and trusted:
        engine = _added(ANY_SCHEME)
    if engine is None and (trusted or scheme in _INSTALLED_BY):
        words = _INSTALLED_BY.get(scheme, _INSTALLED_BY[ANY_SCHEME])
        raise InvalidSource(f"the engine of {scheme}:// URLs is not installed: pip install {words}", field="/url")
    if engine is None or (engine.needs_trust and not trusted):
        raise InvalidSource(
            f"Tenantry cannot keep the dialect {scheme!r} read-only. If its user can only read, register it with "
            f"--trusted. Built in are: {', '.join(BUILT_IN_NAMES)}",
            field="/url",
        )
    return engine


def host_engines(factories: Mapping[str, DriverFactory]) -> dict[str, Engine]:
    """The engines of ``DataSources(engines=…)`` by URL scheme. Raises InvalidSettings for a built-in scheme."""
    for scheme in factories:
        if scheme in BUILT_IN:
            raise InvalidSettings(f"the engine {scheme!r} is built in: give your own another URL scheme")
    return {scheme: Engine(name=scheme, make_driver=_reporting(make)) for scheme, make in factories.items()}


def _reporting(make_driver: DriverFactory) -> DriverFactory:

    def make(source: RegisteredSource, limits: Limits) -> Driver[Any]:
        driver = make_driver(source, limits)
        enforcement = driver.enforcement if isinstance(driver, DeclaringDriver) else UNHELD
        for note in enforcement_notes(f"data source {source.id}", enforcement):
            _log.warning("%s", note)
        return driver

    return make


def is_engine(name: str) -> bool:
    """Whether an engine has this name. Raises InvalidSource."""
    return name in BUILT_IN_NAMES or (name not in BUILT_IN and _added(name) is not None)


def engine_name(url_scheme: str) -> str | None:
    """The built-in engine's name."""
    engine = BUILT_IN.get(url_scheme)
    return None if engine is None else engine.name


def check_url(url: str, trusted: bool = False) -> str:
    """Return a URL's engine or trusted dialect. Raises InvalidSource."""
    parsed = parse_url(url)
    engine = find_engine(parsed, trusted=trusted)
    engine.check_url(parsed)
    return parsed.get_backend_name() if engine.needs_trust else engine.name


def registration_notes(url: str, *, trusted: bool = False) -> list[str]:
    """Warnings to show at registration: weak enforcement, a missing package. They quote only the dialect. Raises
    InvalidSource."""
    parsed = parse_url(url)
    check_secrets(parsed)
    name = check_url(url, trusted)
    engine = find_engine(parsed, trusted=trusted)
    notes = [*enforcement_notes(name, engine.enforcement)]
    if not engine.is_installed:
        notes.append(f"{engine.missing_package}, where its queries run")
    return notes


@cache
def _entry_points() -> Mapping[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=ENGINE_GROUP):
        found.setdefault(point.name, []).append(point)
    return found


@cache
def _added(name: str) -> Engine | None:
    points = _entry_points().get(name)
    if points is None:
        return None
    origins = ", ".join(sorted(f"{each.dist.name} {each.dist.version}" for each in points if each.dist is not None))
    if len(points) > 1:
        raise InvalidSource(f"the engine {name!r} comes from several distributions: {origins}. Uninstall one.")
    try:
        engine = points[0].load()
    except (ImportError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
    else:
        if isinstance(engine, Engine):
            return engine
        reason = f"{points[0].value} is not an Engine"
    raise InvalidSource(f"the engine {name!r} of {origins} cannot be loaded: {' '.join(reason.split())}")
