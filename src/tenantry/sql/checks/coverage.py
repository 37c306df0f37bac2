from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tenantry.errors import Location
from tenantry.groups import Record
from tenantry.sql.checks.findings import Finding, Severity
from tenantry.sql.checks.needs import NUMBERS, expected, fix_of_type, needs, property_path, takes, type_of, with_article
from tenantry.sql.syntax_tree import VariableReference

NAMED: Final = 5
"""Maximum number of groups that a finding names."""


# --- the groups of an environment -------------------------------------------------------------------------------------


MAX_PATHS: Final = 10_000
"""Maximum number of paths whose types ``PropertyTypes(None)`` collects."""


class PropertyTypes:
    """Collects the property paths of all groups. Also collects the type of each value with a path in ``wanted``, or of
    every value if ``wanted`` is None."""

    def __init__(self, wanted: Collection[str] | None) -> None:
        self._wanted = None if wanted is None else frozenset(wanted)
        self._by_kind: dict[str, dict[str, array[int]]] = {path: {} for path in wanted or ()}
        self._ids: list[str] = []
        self._seen: set[str] = set()

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def paths(self) -> frozenset[str]:
        """Property paths of all groups, including paths to objects."""
        return frozenset(self._seen)

    def __contains__(self, path: str) -> bool:
        """Whether a group has this path and its types were collected."""
        return path in self._seen and path in self._by_kind

    def add(self, provided_id: str, properties: Mapping[str, Any] | Record | None) -> None:
        number = len(self._ids)
        self._ids.append(provided_id)
        if properties is not None:
            self._add(number, "", properties)

    def _add(self, number: int, prefix: str, values: Mapping[str, Any] | Record) -> None:
        seen, wanted = self._seen, self._wanted
        for name in values:
            path = prefix + name
            seen.add(path)
            value = values[name]
            if path in wanted if wanted is not None else len(self._by_kind) < MAX_PATHS or path in self._by_kind:
                kinds = self._by_kind.setdefault(path, {})
                kind = type_of(value)
                found = kinds.get(kind)
                if found is None:
                    found = kinds[kind] = array("I")
                found.append(number)
            if isinstance(value, Record | dict):
                self._add(number, path + ".", value)

    def without(self, path: str) -> list[int]:
        """Return the indexes of groups whose property is missing or null."""
        present: set[int] = set()
        for kind, numbers in self._by_kind[path].items():
            if kind != "null":
                present.update(numbers)
        return [] if len(present) == len(self._ids) else [n for n in range(len(self._ids)) if n not in present]

    def kinds(self, path: str) -> dict[str, int]:
        counted = {kind: len(numbers) for kind, numbers in self._by_kind[path].items() if kind != "null"}
        return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0])))

    def having(self, path: str, kinds: Collection[str]) -> list[int]:
        return sorted(number for kind in kinds for number in self._by_kind[path].get(kind, ()))

    def named(self, numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._ids[number] for number in numbers[:NAMED])


# --- findings ---------------------------------------------------------------------------------------------------------


class Coverage:
    def __init__(self, types: PropertyTypes) -> None:
        self._types = types
        self._missing: dict[str, list[int]] = {}
        self._differing: dict[str, tuple[str, list[int]] | None] = {}

    def findings(self, references: Iterable[tuple[VariableReference, Location]]) -> Iterator[Finding]:
        """Yield a finding for each needed property that some groups lack, that has a wrong type, or whose type differs
        between groups."""
        seen: set[tuple[str, str]] = set()
        for reference, location in references:
            for path, _ in needs([reference]):
                found = self._of(path, reference, location)
                for finding in found:
                    if (path, finding.code) not in seen:
                        seen.add((path, finding.code))
                        yield finding

    def _of(self, path: str, reference: VariableReference, location: Location) -> Iterator[Finding]:
        types = self._types
        if path not in types:
            return  # no group has the property: the lint reports an unknown variable
        if path not in self._missing:
            self._missing[path] = types.without(path)
        missing = self._missing[path]
        if missing:
            fix = "give these groups the property, or declare it optional and put the SQL that needs it in [[ ]]"
            if reference.of_guard:
                fix = f"give these groups the property: the guarded tables need it for the table {reference.of_guard}"
            yield self._finding("missing-property", Severity.ERROR, reference, location, "is missing", fix, missing)
        kinds = types.kinds(path)
        wrong = [kind for kind in kinds if not takes(reference, kind)]
        if wrong:
            what = f"is {_either(wrong)}, where the query takes {expected(reference)},"
            fix = fix_of_type(reference, wrong, "give these groups a value of the type that the query takes")
            numbers = types.having(path, wrong)
            yield self._finding("property-type", Severity.ERROR, reference, location, what, fix, numbers)
            return
        if path not in self._differing:
            self._differing[path] = _minority(types, path, kinds)
        differing = self._differing[path]
        if differing is not None:
            what, numbers = differing
            fix = "use one type in all groups, because the query compares the values with one column"
            yield self._finding("property-type-differs", Severity.WARNING, reference, location, what, fix, numbers)

    def _finding(
        self,
        code: str,
        severity: Severity,
        reference: VariableReference,
        location: Location,
        what: str,
        fix: str,
        numbers: Sequence[int],
    ) -> Finding:
        total, count = len(self._types), len(numbers)
        named = self._types.named(numbers)
        path = property_path(reference.path) or reference.path
        message = f"{path} {what} {in_groups(count, total, named)}"
        line, column = location.line, location.column
        about = (reference.path, count, total, named, location.file)
        return Finding(code, severity, line, column, message, fix, *about, included_at=location.included_at)


def in_groups(count: int, total: int, named: Sequence[str]) -> str:
    """Return text such as ``in 37 of 412 groups: a, b, c, d, e and 32 more``."""
    more = f" and {count - len(named)} more" if count > len(named) else ""
    return f"in {count} of {total} group{'s' * (total != 1)}: {', '.join(named)}{more}"


def _minority(types: PropertyTypes, path: str, kinds: Mapping[str, int]) -> tuple[str, list[int]] | None:
    # Integers and decimals count as one type. An empty list counts as a list of any type.
    most = next((kind for kind in kinds if kind != "list"), None)
    alike = next((group for group in _ALIKE if most in group), frozenset({most}))
    other = [kind for kind in kinds if kind not in alike and kind != "list"]
    if most is None or not other:
        return None
    return f"is {_either(other)}, not {with_article(most)} as in other groups,", types.having(path, other)


_ALIKE = (NUMBERS, frozenset(f"list of {kind}" for kind in NUMBERS))


def _either(kinds: Sequence[str]) -> str:
    return " or ".join(map(with_article, kinds))
