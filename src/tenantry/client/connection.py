"""Connection: where the service is, who calls it, and each call as a request. Shared by both clients; no I/O."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tenantry.client.calls import Ask, Call, Lost, Reply, body, call
from tenantry.client.result import ProvisionedGroup
from tenantry.groups import UNCHANGED, Unchanged

if TYPE_CHECKING:
    import httpx2


class Connection:
    """``url`` of the interface and ``headers`` of every request. The API token is in no ``repr`` and no message."""

    def __init__(self, base_url: str, api_token: str, *, attempts: int, get_method: str) -> None:
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise ValueError("base_url must start with http:// or https://, such as http://127.0.0.1:8000")
        if not api_token or not api_token.isascii() or not api_token.isprintable():
            raise ValueError("api_token must be the text that `tenantry api-token create` printed")
        if attempts < 1:
            raise ValueError("attempts must be at least 1")
        self.url = base_url.rstrip("/") + "/api/user"
        self.headers = {
            "Authorization": f"Token {api_token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        self._attempts = attempts
        self._get_method = get_method

    @staticmethod
    def library() -> Any:
        """The module httpx2, loaded when a client is made."""
        try:
            return import_module("httpx2")
        except ModuleNotFoundError:
            missing = "tenantry.client needs httpx2: pip install 'tenantry[http]'"
        raise ModuleNotFoundError(missing, name="httpx2")

    # --- the calls ---

    def get_or_create(
        self,
        user_group_id: str,
        name: str | None,
        properties: Mapping[str, Any] | None,
        mapping: Mapping[str, str] | None,
    ) -> Call:
        fields = {"name": name, "properties": properties, "mapping": mapping}
        given = {field: _plain(value) for field, value in fields.items() if value is not None}
        return self._call(self._get_method, {"user_group_id": user_group_id, **given})

    def update(
        self,
        user_group_id: str,
        name: str | Unchanged,
        properties: Mapping[str, Any] | Unchanged | None,
        mapping: Mapping[str, str] | Unchanged | None,
    ) -> Call:
        fields = {"name": name, "properties": properties, "mapping": mapping}
        given = {field: _plain(value) for field, value in fields.items() if value is not UNCHANGED}
        return self._call("PUT", {"user_group_id": user_group_id, **given})

    def rotate(self, current_token: str, idempotency_key: str | None) -> Call:
        key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
        return self._call("POST", {"current_token": current_token}, {"Idempotency-Key": key})

    def _call(self, method: str, fields: dict[str, Any], headers: dict[str, str] | None = None) -> Call:
        return call(Ask(method, body(**fields), headers or {}), self._attempts)

    # --- what comes back ---

    @staticmethod
    def reply(response: httpx2.Response) -> Reply:
        return Reply(
            response.status_code,
            response.content,
            response.headers.get("retry-after"),
            response.headers.get("idempotency-replayed") == "true",
        )

    @staticmethod
    def lost(error: Exception) -> Lost:
        """The kind of the failure and not its text, which may hold what was sent."""
        return Lost(type(error).__name__)

    @staticmethod
    def result(done: StopIteration) -> ProvisionedGroup:
        group: ProvisionedGroup = done.value
        return group


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value
