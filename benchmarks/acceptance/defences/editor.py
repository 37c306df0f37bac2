"""Defences of the SQL editor: its sessions, rights, environments, previews and files, and requests of other sites."""

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
        'if request.method not in {"GET", "HEAD"} and HEADER not in request.headers:',
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
    Defence(
        "each request of an editor's preview needs its author",
        "editor/previews/preview_routes.py",
        "        await self._require_author(drafts, scope)\n",
        "",
        ("tests/editor/test_preview_authors.py",),
    ),
    Defence(
        "a preview needs the author who made it",
        "editor/previews/preview_routes.py",
        "if author.name != drafts.author:",
        "if False:",
        ("tests/editor/test_preview_authors.py",),
    ),
    Defence(
        "a preview needs the right to run",
        "editor/previews/preview_routes.py",
        "        require_right(author, Right.RUN)\n",
        "",
        ("tests/editor/test_preview_authors.py",),
    ),
    Defence(
        "a preview ends when its author loses the environment",
        "editor/previews/preview_routes.py",
        "if not author.may_use(drafts.environment):",
        "if False:",
        ("tests/editor/test_preview_authors.py",),
    ),
    Defence(
        "the open response of a preview asks for its author again",
        "dashboards/preview/guard.py",
        "await self._editor.require_author(self._scope)",
        "pass",
        ("tests/editor/test_preview_authors.py",),
    ),
    Defence(
        "the key of an editor's preview works in no other preview and not in the product",
        "dashboards/preview/guard.py",
        "if preview.shown_by != (None if self._editor is None else self._editor.id):",
        "if False:",
        ("tests/editor/test_preview_authors.py",),
    ),
    Defence(
        "a file of an editor's preview has an address in that preview only",
        "dashboards/panels/downloads.py",
        'return payload is not None and json.loads(payload).get("shown_by") == self._shown_by',
        "return payload is not None",
        ("tests/editor/test_preview_authors.py",),
    ),
    Defence(
        "a query without guards needs its right",
        "editor/runs/query_runs.py",
        "            asked.require(Right.UNGUARDED)\n",
        "            pass\n",
        ("tests/editor/test_runs.py",),
    ),
    Defence(
        "a sample without guards needs its right",
        "editor/runs/samples.py",
        "            asked.require(Right.UNGUARDED)\n",
        "            pass\n",
        ("tests/editor/test_runs.py",),
    ),
    Defence(
        "`guard: required` holds for authors",
        "datasources/authors.py",
        "source is None or is_guard_required(source)",
        "source is None",
        ("tests/editor/test_runs.py",),
    ),
    Defence(
        "an author's query shows no secrets of the server",
        "datasources/authors.py",
        "found = find_private_name(untagged(bound), bound.dialect)",
        "found = None",
        ("tests/editor/test_runs.py",),
    ),
    Defence(
        "a run is in the audit trail",
        "editor/runs/query_runs.py",
        '            await record_query(self._workbench, asked, _action(body), group, "rows")\n',
        "",
        ("tests/editor/test_runs.py",),
    ),
    Defence(
        "a read-only editor writes no file",
        "editor/files/file_routes.py",
        "if self._workbench.read_only:",
        "if False:",
        ("tests/editor/test_files.py",),
    ),
    Defence(
        "a save replaces only the file that its author opened",
        "editor/files/saved_files.py",
        "            _check(old, expected)\n",
        "",
        ("tests/editor/test_files.py",),
    ),
    Defence(
        "the editor reads no file through a symbolic link",
        "editor/files/folder_files.py",
        "os.O_RDONLY | os.O_NOFOLLOW |",
        "os.O_RDONLY |",
        ("tests/editor/test_files.py",),
    ),
    Defence(
        "the editor follows no folder that is a symbolic link",
        "editor/files/folder_files.py",
        "_FOLDER | os.O_NOFOLLOW",
        "_FOLDER",
        ("tests/editor/test_files.py",),
    ),
    Defence(
        "git runs no program of a repository",
        "editor/files/git_head.py",
        '"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", ',
        "",
        ("tests/editor/test_git.py",),
    ),
)
