"""An app that streams from the SQLite file in the environment variable STREAM_FILE, over one connection."""

from __future__ import annotations

import os

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tenantry.datasources import StreamLimits
from tenantry.errors import TenantryError
from tests.datasources.conftest import Directory, group
from tests.datasources.settings import data_sources
from tests.datasources.streamed_rows import ENDLESS, ROWS

LIMIT = 5_000
directory = Directory()
directory.add(1, f"sqlite:///{os.environ['STREAM_FILE']}")
whole = data_sources(
    directory, pool_size=1, connect_timeout=60, stream=StreamLimits(row_limit=ENDLESS, reader_timeout=600)
)
limited = data_sources(directory, stream=StreamLimits(row_limit=LIMIT))


async def stream(request: Request) -> Response:
    """So many rows, within the limit or not."""
    sources = limited if "limited" in request.query_params else whole
    sql = ROWS["sqlite"].format(int(request.query_params["rows"]))
    try:
        rows = await sources.stream(group(main="ds_1"), "main", sql, {}, format="csv")
    except TenantryError as error:
        return JSONResponse({"code": error.code}, error.status)
    return StreamingResponse(rows, media_type=rows.media_type, headers=rows.headers('a "b" é.csv'))


async def other(request: Request) -> Response:
    """What waits for the one connection."""
    return JSONResponse(await whole.fetch(group(main="ds_1"), "main", "select 1 as one", {}))


app = Starlette(routes=[Route("/stream", stream), Route("/other", other)])
