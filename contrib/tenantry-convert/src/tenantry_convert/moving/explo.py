"""Explo's customers as the groups of a file for ``tenantry group sync``.

It needs ``pip install 'tenantry[sql]'``.

    python from_explo.py page1.json page2.json --source 213=warehouse_eu --schema 40=main > groups.yaml

A page is an answer of ``GET /v2/api/customers/`` (or of the older ``/api/customers/``).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from groups_file import Groups, read_json, write

MAPPINGS = ("computed_parent_schema_datasource_mapping", "parent_schema_datasource_mapping")


def renamed(text: str) -> tuple[str, str]:
    old, _, new = text.partition("=")
    if not (old and new):
        raise argparse.ArgumentTypeError(f"{text!r} is not ID=NAME, as in 213=warehouse_eu")
    return old, new


def group(customer: dict[str, Any], sources: dict[str, str], schemas: dict[str, str]) -> dict[str, Any]:
    """What a customer inherits in Explo's hierarchy, a group has itself: ``computed_…`` holds both."""
    properties = customer.get("computed_properties") or customer.get("properties") or {}
    made = {"name": customer.get("name") or customer["provided_id"], "properties": properties}
    given = [customer[key] for key in MAPPINGS if key in customer]
    if given:
        mapping: dict[str, Any] = next(filter(None, given), {})
        made["mapping"] = {schemas.get(schema, schema): sources.get(str(to), str(to)) for schema, to in mapping.items()}
    return made


def main() -> Groups:
    parser = argparse.ArgumentParser(description="Explo's customers as groups.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--source", action="append", default=[], type=renamed, metavar="ID=NAME", help="data sources")
    parser.add_argument("--schema", action="append", default=[], type=renamed, metavar="ID=NAME", help="schemas")
    parser.add_argument("--access-group", help="the customers of this data visibility group alone")
    given = parser.parse_args()
    groups: Groups = {}
    answers = [read_json(page) for page in given.pages]
    customers = [customer for answer in answers for customer in answer.get("results", answer)["customers"]]
    if len(customers) < (count := max(answer.get("total_count", 0) for answer in answers)):
        print(f"not all: {len(customers)} of {count} customers are here: save the other pages, too", file=sys.stderr)
    for customer in customers:
        if customer.get("is_demo_group"):
            print(f"left out: {customer['provided_id']} is a demo customer", file=sys.stderr)
        elif given.access_group in (None, customer.get("access_group")):
            groups[customer["provided_id"]] = group(customer, dict(given.source), dict(given.schema))
            for lost in ("emails", "group_tags"):
                if customer.get(lost):
                    print(f"not moved: {lost} of {customer['provided_id']}", file=sys.stderr)
    return groups


if __name__ == "__main__":
    write(main)
