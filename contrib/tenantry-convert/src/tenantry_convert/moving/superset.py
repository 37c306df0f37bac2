"""What Superset's row-level rules say of each customer, as the groups of a file for ``tenantry group sync``.

It needs ``pip install 'tenantry[sql]'``.

    python from_superset.py rules.json > groups.yaml      (or rules0.json rules1.json …, a file for each page)

Superset has no customers. What it has is one of two, and either will do: the answer of ``GET
/api/v1/rowlevelsecurity/``, where each customer is a role, or a list of the bodies that your server sends to
``/api/v1/security/guest_token/``, where each is a user. Only clauses that compare columns with literals can be read:
``region = 'eu' and customer_id in (1, 2)``. The others are told, and left out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groups_file import Groups, read_json, write

LITERAL = r"(?:-?\d+(?:\.\d+)?|'(?:[^']|'')*')"
NAME = r"(?:[^\W\d]\w*\.)*\"?([^\W\d]\w*)\"?"
CONDITION = re.compile(
    rf"\s*{NAME}\s*(?:=\s*({LITERAL})|in\s*\(\s*({LITERAL}(?:\s*,\s*{LITERAL})*)\s*\))\s*", re.IGNORECASE
)
AND = re.compile(r"and\b", re.IGNORECASE)


def value(text: str) -> Any:
    return text[1:-1].replace("''", "'") if text.startswith("'") else float(text) if "." in text else int(text)


def properties(clause: str) -> dict[str, Any] | None:
    """Column -> value, or list of values; None if the clause says anything else, or has a template in it."""
    found: dict[str, Any] = {}
    at = 0
    if "{{" in clause or "{%" in clause:
        return None
    while condition := CONDITION.match(clause, at):
        column, one, several = condition.groups()
        if column in found:
            return None
        found[column] = value(one) if one else [value(each) for each in re.findall(LITERAL, several)]
        at = condition.end()
        if at == len(clause):
            return found
        if not (joined := AND.match(clause, at)):
            return None
        at = joined.end()
    return None


def clauses(exports: list[Any], unread: list[str]) -> Iterator[tuple[str, str | None]]:
    """The id of a customer, and a clause for it; None: there is such a customer."""
    bodies = [body for export in exports if isinstance(export, list) for body in export]
    yield from ((body["user"]["username"], None) for body in bodies)
    yield from ((body["user"]["username"], rule["clause"]) for body in bodies for rule in body["rls"])
    pages = [export for export in exports if not isinstance(export, list)]
    rules = [rule for page in pages for rule in page["result"]]
    if len(rules) < (count := max((page.get("count", 0) for page in pages), default=0)):
        unread.append("pages")
        print(f"not read: {len(rules)} of {count} rules are here: save the other pages, too", file=sys.stderr)
    for rule in rules:
        if rule["filter_type"] == "Base":
            print(f"left out: {rule['name']} is for everybody but {_names(rule)}: {rule['clause']}", file=sys.stderr)
        else:
            yield from ((role["name"], rule["clause"]) for role in rule["roles"])


def _names(rule: dict[str, Any]) -> str:
    return ", ".join(role["name"] for role in rule["roles"]) or "nobody"


def groups(unread: list[str]) -> Groups:
    """``unread`` takes the clauses that say more than that columns have values, and a word where pages are missing."""
    parser = argparse.ArgumentParser(description="Superset's row-level rules as groups.")
    parser.add_argument("exports", nargs="+", type=Path)
    exports = [read_json(path) for path in parser.parse_args().exports]
    found: dict[str, dict[str, Any]] = {}
    partly: set[str] = set()
    for customer, clause in clauses(exports, unread):
        known = found.setdefault(customer, {})
        if clause is None:
            continue
        read = properties(clause)
        if read is None or any(known.get(name, held) != held for name, held in read.items()):
            unread.append(clause)
            partly.add(customer)
            print(f"not read: {customer}: {clause}", file=sys.stderr)
        else:
            known |= read
    # Who has nothing but rules that were not read keeps what is there: it may have been written by hand.
    return {
        customer: {"properties": held} if held or customer not in partly else {} for customer, held in found.items()
    }


if __name__ == "__main__":
    left: list[str] = []
    write(lambda: groups(left))
    sys.exit(1 if left else 0)
