from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tenantry.errors import BodyTooLarge, TenantryError
from tenantry.groups import Author, Environment
from tenantry.http import error_document
from tenantry.provisioning import Outcome, Upsert, UpsertProvisioner, UpsertResult
from tenantry.provisioning.http.ndjson_reader import MAX_LINE, Line
from tenantry.provisioning.http.operations import merged_group, parse_line
from tenantry.provisioning.http.strict_json import decode_json

MAX_TOGETHER: Final = 500
"""Maximum number of lines that are written in one transaction."""
# A transaction blocks other writers for about ten milliseconds: in SQLite it locks the whole file, in PostgreSQL the
# row of the table ``generation``.

BYTES_TOGETHER: Final = 1024 * 1024
"""A transaction takes no further line when its lines have more than this many bytes."""

FAILED: Final = "failed"
"""The member of the summary that counts the failed lines."""


@dataclass(frozen=True, slots=True)
class UpsertLine:
    number: int
    parsed: Upsert | TenantryError
    size: int

    @property
    def provided_id(self) -> str | None:
        return self.parsed.provided_id if isinstance(self.parsed, Upsert) else None


def read_line(line: Line, *, replace: bool) -> UpsertLine:
    if line.text is None:
        return UpsertLine(line.number, BodyTooLarge(f"the line is longer than {MAX_LINE} bytes"), MAX_LINE)
    parsed: Upsert | TenantryError
    try:
        operation = parse_line(decode_json(line.text, what="line"), replace=replace)
    except TenantryError as error:
        parsed = error
    else:
        parsed = Upsert(operation.user_group_id, operation.changes())
    return UpsertLine(line.number, parsed, len(line.text))


class UpsertBatch:
    """Lines that are written in one transaction. No two lines are for the same group."""

    # The second line for a group must see the result of the first.

    def __init__(self) -> None:
        self.lines: list[UpsertLine] = []
        self._ids: set[str] = set()
        self._size = 0

    def takes(self, line: UpsertLine) -> bool:
        full = len(self.lines) == MAX_TOGETHER or self._size > BYTES_TOGETHER
        return not full and line.provided_id not in self._ids

    def add(self, line: UpsertLine) -> None:
        self.lines.append(line)
        self._size += line.size
        if line.provided_id is not None:
            self._ids.add(line.provided_id)

    async def write(
        self, provisioner: UpsertProvisioner, environment: Environment, *, merge: bool, author: Author
    ) -> list[UpsertResult]:
        upserts = [each.parsed for each in self.lines if isinstance(each.parsed, Upsert)]
        done = iter(await provisioner.upsert_many(environment, upserts, merge=merge, author=author))
        return [next(done) if isinstance(each.parsed, Upsert) else each.parsed for each in self.lines]

    def report(self, results: Sequence[UpsertResult]) -> Iterator[dict[str, Any]]:
        # Not a list, because each report may contain a large group.
        return (_report(line.number, result) for line, result in zip(self.lines, results, strict=True))


def _report(number: int, result: UpsertResult) -> dict[str, Any]:
    if isinstance(result, TenantryError):
        return {"line": number, **error_document(result, None)}
    return {"line": number, "success": 1, "result": result.outcome.value, "user_group": merged_group(result.group)}


class UpsertCounts:
    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, results: Sequence[UpsertResult]) -> None:
        self._counts.update(FAILED if isinstance(each, TenantryError) else each.outcome.value for each in results)

    def summary(self) -> dict[str, int]:
        named = {str(name): self._counts[name] for name in (*Outcome, FAILED)}
        return {"lines": sum(named.values()), **named}
