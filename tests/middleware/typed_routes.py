"""What a type checker sees of the parameters of a route: test_fastapi.py has mypy and pyright read it."""

from __future__ import annotations

from typing import assert_type

from fastapi import APIRouter, WebSocket

from tenantry import Record, UserGroup
from tenantry.middleware.fastapi import CurrentGroup, CurrentVariables

router = APIRouter()


@router.get("/me")
async def me(group: CurrentGroup, known: CurrentVariables) -> dict[str, str]:
    assert_type(group, UserGroup)
    assert_type(known, Record)
    return {"name": group.name}


@router.websocket("/live")
async def live(websocket: WebSocket, group: CurrentGroup) -> None:
    assert_type(group.environment.name, str)
