from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tenantry_convert.moving.groups_file import Groups, number, read_json, warn, write

TRUE = {"yes", "true", "1"}
NOT_EMPTY = {"number", "yesno"}
"""Attribute types for which an empty string means a missing value."""

_file = click.Path(path_type=Path)


@click.command("looker")
@click.argument("groups", type=_file)
@click.argument("attributes", type=_file)
@click.argument("values", nargs=-1, type=_file, metavar="[VALUES]…")
@click.option(
    "--all", "every", is_flag=True, help="Also print groups that were not made by embedding. They keep Looker's id."
)
@click.option(
    "--connection",
    metavar="NAME",
    help="The attribute whose value becomes the data source in the mapping.",
)
@click.option("--schema", default="main", show_default=True, help="The schema in that mapping.")
def from_looker(
    groups: Path, attributes: Path, values: tuple[Path, ...], every: bool, connection: str | None, schema: str
) -> None:
    """Print the groups of Looker, with their user attributes, for `tenantry group sync`.

    GROUPS and ATTRIBUTES are saved responses to GET /groups and GET /user_attributes. Each VALUES is a saved response
    to GET /user_attributes/{id}/group_values.
    """

    def read() -> Groups:
        declared = [each for each in read_json(attributes) if not each.get("is_system")]
        held = [value for path in values for value in read_json(path)]
        by_group = {(str(value["group_id"]), str(value["user_attribute_id"])): value for value in held}
        moved: Groups = {}
        for group in read_json(groups):
            if group.get("external_group_id") is None and not every:
                warn(f"left out: {group['name']} has no external_group_id")
                continue
            properties = _properties(str(group["id"]), declared, by_group)
            fields = {"name": group["name"], "properties": properties}
            if connection is not None:
                routed = connection in properties
                fields["mapping"] = {schema: properties.pop(connection)} if routed else {}
            moved[str(group.get("external_group_id") or group["id"])] = fields
        return moved

    write(read)


def _properties(group: str, attributes: list[dict[str, Any]], values: dict[tuple[str, str], Any]) -> dict[str, Any]:
    found = {}
    for attribute in attributes:
        held = values.get((group, str(attribute["id"])))
        value = held["value"] if held is not None else attribute.get("default_value")
        if held is not None and held.get("value_is_hidden"):
            warn(f"not moved: Looker hides the values of {attribute['name']}")
        elif value is not None and (value or attribute["type"] not in NOT_EMPTY):
            found[attribute["name"]] = _typed(attribute, value)
    return found


def _typed(attribute: dict[str, Any], value: str) -> Any:
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
                warn(f"check by hand: {attribute['name']} is the filter expression {value!r}")
            return value
