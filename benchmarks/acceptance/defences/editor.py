"""Defences of the SQL editor: its sessions, rights, environments, and requests of other sites."""

from __future__ import annotations

from typing import Final

from benchmarks.acceptance.defences.defence import Defence

OF_EDITOR: Final = (
    Defence(
        "a link of the editor opens one session",
        "editor/sessions.py",
        "payload = await self._codes.redeem(Purpose.EDITOR, code)",
        "payload = await self._codes.read(Purpose.EDITOR, code)",
        ("tests/editor/test_sessions.py",),
    ),
    Defence(
        "a page of another site sends nothing to the editor",
        "editor/requests.py",
        "self._origins.require(request.scope)",
        "pass",
        ("tests/editor/test_every_endpoint.py",),
    ),
    Defence(
        "a form of another site sends nothing to the editor",
        "editor/requests.py",
        'if request.method != "GET" and HEADER not in request.headers:',
        "if False:",
        ("tests/editor/test_every_endpoint.py",),
    ),
    Defence(
        "an author needs the right of each endpoint",
        "editor/requests.py",
        "if right not in author.rights:",
        "if False:",
        ("tests/editor/test_every_endpoint.py",),
    ),
    Defence(
        "an author uses only the groups of the allowed environments",
        "editor/requests.py",
        "environment = await workbench.store.environments.get(name) if author.may_use(name) else None",
        "environment = await workbench.store.environments.get(name)",
        ("tests/editor/test_every_endpoint.py",),
    ),
)
