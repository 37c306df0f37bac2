from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tenantry.errors import InvalidSource, TemplateError
from tenantry.groups import check_session_variables
from tenantry.sql import Source
from tenantry.sql.header import YamlNode

KEY: Final = "data_sources"
_OWN: Final = ("url", "session")
_EXAMPLE: Final = f"write `{KEY}:`, and below it `warehouse: {{tables: {{orders: customer_id}}}}`"


@dataclass(frozen=True, slots=True)
class DeclaredSource:
    """A data source in a file of groups. A field that the file does not contain is None."""

    source: str
    place: str
    url: str | None
    session: dict[str, str] | None
    tables: dict[str, Any] | None


def declared_sources(root: YamlNode, source: Source) -> Mapping[str, YamlNode]:
    assert isinstance(root.value, dict)  # noqa: S101 - checked by the caller
    node = root.value.get(KEY)
    if node is None:
        return {}
    if not isinstance(node.value, dict):
        raise source.error(node.offset, f"{KEY} must be a mapping of names to declarations", _EXAMPLE)
    return node.value


def read_declared_source(provided_id: str, node: YamlNode, source: Source) -> DeclaredSource:
    """Read one data source of the file. Raises TemplateError if it has mistakes."""
    fields = node.value if isinstance(node.value, dict) else {}
    place = f"{source.file}:{source.location(node.offset).line}"
    url = _url(fields["url"], source) if "url" in fields else None
    session = _session(fields["session"], source) if "session" in fields else None
    rest = node
    if fields:
        others = {key: each for key, each in fields.items() if key not in _OWN}
        rest = replace(node, value=others)
    tables = None
    if rest.value or (url is None and session is None):
        tables = _tables(provided_id, rest, source)
    return DeclaredSource(provided_id, place, url, session, tables)


def _url(node: YamlNode, source: Source) -> str:
    from tenantry.datasources import registration_notes, secret_state  # slow to import

    url = node.value
    if not isinstance(url, str):
        fix = "write, for example, `url: postgresql://reader@db.example.com/shop`"
        raise _url_error(node, source, "this must be a string", fix)
    try:
        registration_notes(url, trusted=True)
    except InvalidSource as error:
        raise _url_error(node, source, error.message, "correct the URL") from None
    if secret_state(url) == "plain":
        fix = (
            "write a reference instead of the password (env:NAME or file:/path), or remove the password here and set "
            "it with tenantry data-source update NAME --password -"
        )
        raise _url_error(node, source, "this file must not contain a password", fix)
    return url


def _url_error(node: YamlNode, source: Source, problem: str, fix: str) -> TemplateError:
    location = source.location(node.offset)  # unlike `source.error`, does not quote the line, which has a password
    return TemplateError(f"{source.file}:{location.line}:{location.column}: url: {problem}\n  fix: {fix}")


def _session(node: YamlNode, source: Source) -> dict[str, str]:
    fix = "write below `session:`, for example, `app.tenant: '{{ user_group.id }}'`"
    pairs = {} if node.value is None else node.plain()
    if not isinstance(pairs, dict) or not all(isinstance(each, str) for each in pairs.values()):
        raise source.error(node.offset, "session must be a mapping of names to variables", fix)
    try:
        return dict(check_session_variables("postgresql:", pairs))
    except InvalidSource as error:
        raise source.error(node.offset, f"session: {error.message}", fix) from None


def _tables(provided_id: str, node: YamlNode, source: Source) -> dict[str, Any]:
    from tenantry.sql.guarding import read_tables_node  # slow to import

    declared = read_tables_node(node, source)
    if not declared.entries:
        raise source.error(node.offset, f"{provided_id} declares no table", _EXAMPLE)
    return declared.as_json()
