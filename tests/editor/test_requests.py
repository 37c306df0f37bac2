"""Bodies of requests to the editor."""

from __future__ import annotations

from pathlib import Path

from tests.editor.served import served_editor


async def test_a_large_body_is_refused(tmp_path: Path) -> None:
    """Red when EditorEndpoints.post does not pass its limit on."""
    async with served_editor(tmp_path) as site:
        answer = await site.post("state", text="x" * 70_000)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")
