"""Files of declarations: ``tables.yaml`` next to a folder of queries."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tenantry.errors import TemplateError
from tenantry.sql.guarding.declaration import InvalidTables
from tenantry.sql.guarding.guarded_tables import GuardedTables
from tenantry.sql.guarding.read_declaration import read_tables
from tenantry.sql.header.yaml_reader import YamlNode, read_yaml
from tenantry.sql.source import Source

_MAX_BYTES: Final = 1024 * 1024


def read_tables_file(path: str | Path) -> GuardedTables:
    """Return the declaration in a YAML file. If the file lists no tables, no query may read a table. Raises OSError if
    the file cannot be read, and TemplateError if the file is malformed."""
    with Path(path).open("rb") as stream:
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise TemplateError(f"{path} is larger than {_MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TemplateError(f"{path} is not UTF-8") from None
    source = Source(text, str(path), longest=_MAX_BYTES)
    return read_tables_node(read_yaml(source, 0, len(text)), source)


def read_tables_node(root: YamlNode, source: Source) -> GuardedTables:
    """Return the declaration in a YAML node. Raises TemplateError if it is malformed."""
    try:
        return read_tables(root.plain(), file=source.file)
    except InvalidTables as error:
        problem = ": ".join(filter(None, (".".join(error.keys), error.problem)))
        raise source.error(root.offset_of(error.keys), problem, error.fix) from None
