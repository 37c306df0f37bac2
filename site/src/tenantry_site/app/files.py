"""Files of the folder that a site publishes as they are: read from the disk when they are asked for."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, Final

from starlette.concurrency import run_in_threadpool

from tenantry_site.app.answering import tag_of
from tenantry_site.building import Entry, open_entry

if TYPE_CHECKING:
    from starlette.types import Scope, Send

    from tenantry_site.app.answering import Answer, Answering

_WHOLE: Final = 2**20
"""Up to this size a file is read at once, and packed if that makes it smaller."""
_CHUNK: Final = 2**18


async def send_file(entry: Entry, answer: Answer, answering: Answering, scope: Scope, send: Send) -> bool:
    """Sends a file with the headers of ``answer``. False, and nothing is sent, if it is not there any more."""
    try:
        file = await run_in_threadpool(open_entry, entry)
    except OSError:
        return False
    with file:
        found = os.fstat(file.fileno())
        # the place too: the packed bytes of all files are kept by their tags, and many copies have one time for all
        answer = replace(
            answer, tag=tag_of(f"{entry.place}\0{found.st_mtime_ns}\0{found.st_size}".encode("utf-8", "replace"))
        )
        if found.st_size <= _WHOLE:
            content = await run_in_threadpool(file.read, _WHOLE)
            await answering.send(replace(answer, content=content), scope, send)
        else:
            await _stream(file, found.st_size, answer, answering, scope, send)
    return True


async def _stream(file: BinaryIO, size: int, answer: Answer, answering: Answering, scope: Scope, send: Send) -> None:
    """Chunk by chunk, and exactly ``size`` bytes, for that was promised. Raises EOFError for a file that shrinks."""
    if not await answering.begin(answer, size, scope, send):
        return
    left = size
    while left:
        chunk = await run_in_threadpool(file.read, min(_CHUNK, left))
        if not chunk:
            raise EOFError("the file became shorter while it was sent")
        left -= len(chunk)
        await send({"type": "http.response.body", "body": chunk, "more_body": left > 0})
