"""Metabase's tenants as the groups of a file for ``tenantry group sync``.

It needs ``pip install 'tenantry[sql]'``.

    python from_metabase.py tenants.json --number customer_id --list regions > groups.yaml

The file is the answer of ``GET /api/ee/tenant``. Attributes are texts there: ``--number`` and ``--list`` say which not.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from groups_file import Groups, number, read_json, write


def group(tenant: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    attributes = dict(tenant["attributes"] or {})
    routed = attributes.pop(given.routing, None)
    for name in given.number & attributes.keys():
        attributes[name] = number(attributes[name], f"{name} of {tenant['slug']}")
    for name in given.list & attributes.keys():
        attributes[name] = [part.strip() for part in (attributes[name] or "").split(",") if part.strip()]
    made = {"name": tenant["name"], "properties": attributes}
    if given.routing is not None:
        made["mapping"] = {} if routed is None else {given.schema: routed}
    return made


def main() -> Groups:
    parser = argparse.ArgumentParser(description="Metabase's tenants as groups.")
    parser.add_argument("tenants", type=Path)
    parser.add_argument("--number", nargs="+", default=[], metavar="NAME", help="attributes that are numbers")
    parser.add_argument("--list", nargs="+", default=[], metavar="NAME", help="attributes that are lists, with commas")
    parser.add_argument("--routing", metavar="NAME", help="the attribute of database routing: it becomes the mapping")
    parser.add_argument("--schema", default="main", help="the name that your templates use for that database")
    given = parser.parse_args()
    given.number, given.list = set(given.number), set(given.list)
    groups: Groups = {}
    for tenant in read_json(given.tenants)["data"]:
        if tenant["is_active"]:
            groups[tenant["slug"]] = group(tenant, given)  # in SQL it is `user_group.id`
        else:
            print(f"left out: {tenant['slug']} is deactivated", file=sys.stderr)
    return groups


if __name__ == "__main__":
    write(main)
