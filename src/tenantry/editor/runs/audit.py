from __future__ import annotations

from hashlib import blake2b
from typing import TypeVar

from tenantry.editor.requests import EditorRequest, TextBody
from tenantry.editor.runs.prepared_query import PreparedQuery
from tenantry.editor.workbench import Workbench
from tenantry.groups import AuditNote
from tenantry.http import request_id_of

Text = TypeVar("Text", bound=TextBody)


async def record_query(
    workbench: Workbench, asked: EditorRequest[Text], action: str, prepared: PreparedQuery, how: str
) -> None:
    """Record that the author runs a query as a group. The entry has the path and a digest of the typed text and the
    sent SQL, but no values. ``how``: what the author gets, such as ``rows`` or ``plan``."""
    # The SQL has the included texts. Only the text says which values are the group's.
    group = prepared.group
    texts = f"{asked.body.text}\0{prepared.sql}"
    digest = blake2b(texts.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    details = {"query": asked.body.path, "digest": f"sql-{digest}", "as": how}
    if group.viewer is not None:
        details["viewer"] = group.viewer.id or ""
    author = asked.author.audited(request_id_of(asked.request.headers.raw))
    await workbench.store.audit.record(AuditNote(author, action, group.environment.name, group.provided_id, details))
