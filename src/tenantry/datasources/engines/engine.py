from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any, Final, TypeAlias

from sqlalchemy.engine import URL

from tenantry.datasources.driver import Driver, Enforcement, ReadOnlyBy
from tenantry.datasources.pool.query_limits import Limits
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource
from tenantry.sql import DIALECTS, PARAMSTYLES

DriverFactory: TypeAlias = Callable[[RegisteredSource, Limits], Driver[Any]]
"""Makes a source's driver without connecting. Raises InvalidSource for an unusable URL."""

UNHELD: Final = Enforcement(ReadOnlyBy.USER, can_stop=False)
"""Assumed for a driver that does not declare its enforcement: only the user's rights prevent writes, and queries cannot
be stopped."""

_READ_ONLY_NOTES: Final = {
    ReadOnlyBy.STATEMENT: (
        "{name} cannot make a connection read-only. Tenantry sends it only statements that read, but a function in "
        "such a statement has all rights of the database user: register a user who may only read."
    ),
    ReadOnlyBy.USER: "only the rights of the database user keep {name} read-only: register a user who may only read.",
}
_NO_STOP_NOTE: Final = (
    "a query on {name} cannot be stopped: after its timeout, or after its viewer has left, it continues on the server "
    "and occupies its connection until it ends."
)


def _accept(_url: URL) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A kind of database; docs/own-engine.md explains the fields.

    If ``make_driver`` raises ImportError, ``package`` is reported as missing. ``check_url`` raises InvalidSource for an
    unusable URL.
    """

    name: str
    make_driver: DriverFactory
    dialect: str | None = None
    enforcement: Enforcement = Enforcement()  # noqa: RUF009  # frozen
    check_url: Callable[[URL], object] = _accept
    package: str = ""
    module: str = ""
    install: str = ""
    needs_trust: bool = False
    opens_one: bool = False

    def open_driver(self, source: RegisteredSource, limits: Limits) -> Driver[Any]:
        """Make the source's driver. Raises InvalidSource if the URL or the driver is unusable."""
        if not self.is_installed:
            raise InvalidSource(self.missing_package)
        try:
            driver = self.make_driver(source, limits)
        except ImportError:
            if not self.package:
                raise
            raise InvalidSource(self.missing_package) from None
        if driver.dialect not in DIALECTS or driver.paramstyle not in PARAMSTYLES:
            raise InvalidSource(
                f"the driver of data source {source.id} has the dialect {driver.dialect!r} and the paramstyle "
                f"{driver.paramstyle!r}: the dialect must be one of {', '.join(DIALECTS)}, and the paramstyle one of "
                f"{', '.join(PARAMSTYLES)}"
            )
        return driver

    @property
    def missing_package(self) -> str:
        """The error text for a missing ``package``."""
        return f"the driver {self.package} is not installed: pip install '{self.install}'"

    @property
    def is_installed(self) -> bool:
        """Whether the client library is installed. Does not import it."""
        return not self.module or is_installed(self.module)


def lazy_driver(reference: str) -> DriverFactory:
    """Return a factory that imports ``package.module:Class`` on first use."""

    def make(source: RegisteredSource, limits: Limits) -> Driver[Any]:
        driver: Driver[Any] = resolve_name(reference)(source, limits)
        return driver

    return make


def enforcement_notes(name: str, enforcement: Enforcement) -> Iterator[str]:
    note = _READ_ONLY_NOTES.get(enforcement.read_only_by)
    if note is not None:
        yield note.format(name=name)
    if not enforcement.can_stop:
        yield _NO_STOP_NOTE.format(name=name)


def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # the module's parent package is missing
        return False
