"""Looker's groups and their user attributes as the groups of a file for ``tenantry group sync``.

It needs ``pip install 'tenantry[sql]'``.

    python from_looker.py groups.json user_attributes.json values_7.json values_8.json > groups.yaml

The files are answers of ``GET /groups``, ``GET /user_attributes`` and, for each attribute, ``GET
/user_attributes/{id}/group_values``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from groups_file import Groups, number, read_json, write

TRUE = {"yes", "true", "1"}
NOT_EMPTY = {"number", "yesno"}  # an empty text of these types is no value


def typed(attribute: dict[str, Any], value: str) -> Any:
    """Looker keeps texts, and a type beside them. A filter expression is more than a value: it is told, and left so."""
    match attribute["type"]:
        case "number":
            return number(value, f"the user attribute {attribute['name']}")
        case "yesno":
            return value.lower() in TRUE
        case "advanced_filter_string" | "advanced_filter_number" if not set(value) & set('%^"-[]<>'):
            parts = [part.strip() for part in value.split(",") if part.strip()]
            if attribute["type"].endswith("string"):
                return parts
            return [number(part, f"the user attribute {attribute['name']}") for part in parts]
        case kind:
            if kind.startswith("advanced_filter"):
                print(f"to look at: {attribute['name']} is the filter expression {value!r}", file=sys.stderr)
            return value


def properties_of(group: str, attributes: list[dict[str, Any]], values: dict[tuple[str, str], Any]) -> dict[str, Any]:
    """The value of the group, else the default. Those of single users are in no group: Looker would prefer them."""
    found = {}
    for attribute in attributes:
        held = values.get((group, str(attribute["id"])))
        value = held["value"] if held is not None else attribute.get("default_value")
        if held is not None and held.get("value_is_hidden"):
            print(f"not moved: Looker hides the values of {attribute['name']}", file=sys.stderr)
        elif value is not None and (value or attribute["type"] not in NOT_EMPTY):
            found[attribute["name"]] = typed(attribute, value)
    return found


def main() -> Groups:
    parser = argparse.ArgumentParser(description="Looker's groups as groups.")
    parser.add_argument("groups", type=Path)
    parser.add_argument("attributes", type=Path)
    parser.add_argument("values", nargs="*", type=Path)
    parser.add_argument(
        "--all", action="store_true", help="also groups that embedding did not make: their id is Looker's"
    )
    parser.add_argument("--connection", metavar="NAME", help="the attribute that chooses a connection: the mapping")
    parser.add_argument("--schema", default="main", help="the name that your templates use for that connection")
    given = parser.parse_args()
    attributes = [each for each in read_json(given.attributes) if not each.get("is_system")]
    held = [value for path in given.values for value in read_json(path)]
    values = {(str(value["group_id"]), str(value["user_attribute_id"])): value for value in held}
    groups: Groups = {}
    for group in read_json(given.groups):
        if group.get("external_group_id") is None and not given.all:
            print(f"left out: {group['name']} has no external_group_id", file=sys.stderr)
            continue
        properties = properties_of(str(group["id"]), attributes, values)
        made = {"name": group["name"], "properties": properties}
        if given.connection is not None:
            routed = given.connection in properties
            made["mapping"] = {given.schema: properties.pop(given.connection)} if routed else {}
        groups[str(group.get("external_group_id") or group["id"])] = made
    return groups


if __name__ == "__main__":
    write(main)
