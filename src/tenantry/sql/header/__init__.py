"""Reads the YAML header of a query file."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.sql.header.yaml_reader import YamlNode as YamlNode
    from tenantry.sql.header.yaml_reader import read_yaml as read_yaml
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.sql.header.yaml_reader": "YamlNode read_yaml",
        },
    )
