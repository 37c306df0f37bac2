from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tenantry_convert.moving.groups_file import Groups, read_json, warn, write

LITERAL = r"(?:-?\d+(?:\.\d+)?|'(?:[^']|'')*')"
NAME = r"(?:[^\W\d]\w*\.)*\"?([^\W\d]\w*)\"?"
CONDITION = re.compile(
    rf"\s*{NAME}\s*(?:=\s*({LITERAL})|in\s*\(\s*({LITERAL}(?:\s*,\s*{LITERAL})*)\s*\))\s*", re.IGNORECASE
)
AND = re.compile(r"and\b", re.IGNORECASE)


@click.command("superset")
@click.argument("exports", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="EXPORT…")
@click.pass_context
def from_superset(ctx: click.Context, exports: tuple[Path, ...]) -> None:
    """Print the row-level rules of Superset for `tenantry group sync`.

    Superset has no customers. EXPORT is either a saved response to GET /api/v1/rowlevelsecurity/, whose roles become
    groups, or a list of the bodies that your server sends to /api/v1/security/guest_token/, whose users become groups.

    Only clauses that compare columns with literals are read, such as region = 'eu' and customer_id in (1, 2). Other
    clauses are listed, and the command exits with 1.
    """
    unread: list[str] = []
    write(lambda: _groups([read_json(path) for path in exports], unread))
    if unread:
        ctx.exit(1)


def read_clause(clause: str) -> dict[str, Any] | None:
    """Return each column with the value or list that it is compared with. None if the clause is a Jinja template or
    does more than compare."""
    found: dict[str, Any] = {}
    at = 0
    if "{{" in clause or "{%" in clause:
        return None
    while condition := CONDITION.match(clause, at):
        column, one, several = condition.groups()
        if column in found:
            return None
        found[column] = _value(one) if one else [_value(each) for each in re.findall(LITERAL, several)]
        at = condition.end()
        if at == len(clause):
            return found
        if not (joined := AND.match(clause, at)):
            return None
        at = joined.end()
    return None


def _value(text: str) -> Any:
    return text[1:-1].replace("''", "'") if text.startswith("'") else float(text) if "." in text else int(text)


def _groups(exports: list[Any], unread: list[str]) -> Groups:
    found: dict[str, dict[str, Any]] = {}
    partly: set[str] = set()
    for customer, clause in _clauses(exports, unread):
        known = found.setdefault(customer, {})
        if clause is None:
            continue
        read = read_clause(clause)
        if read is None or any(known.get(name, held) != held for name, held in read.items()):
            unread.append(clause)
            partly.add(customer)
            warn(f"not read: {customer}: {clause}")
        else:
            known |= read
    # If none of a group's rules could be read, leave out `properties`, so that the group keeps properties set by hand.
    return {
        customer: {"properties": held} if held or customer not in partly else {} for customer, held in found.items()
    }


def _clauses(exports: list[Any], unread: list[str]) -> Iterator[tuple[str, str | None]]:
    bodies = [body for export in exports if isinstance(export, list) for body in export]
    yield from ((body["user"]["username"], None) for body in bodies)
    yield from ((body["user"]["username"], rule["clause"]) for body in bodies for rule in body["rls"])
    pages = [export for export in exports if not isinstance(export, list)]
    rules = [rule for page in pages for rule in page["result"]]
    if len(rules) < (count := max((page.get("count", 0) for page in pages), default=0)):
        unread.append("pages")
        warn(f"only {len(rules)} of {count} rules are in these files: save the other pages, too")
    for rule in rules:
        if rule["filter_type"] == "Base":
            warn(f"left out: {rule['name']} is for everybody but {_names(rule)}: {rule['clause']}")
        else:
            yield from ((role["name"], rule["clause"]) for role in rule["roles"])


def _names(rule: dict[str, Any]) -> str:
    return ", ".join(role["name"] for role in rule["roles"]) or "nobody"
