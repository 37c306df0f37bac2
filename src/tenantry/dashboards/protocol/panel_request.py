"""Requests of the page, as strict JSON."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request

from tenantry.errors import BodyTooLarge, InvalidBody, ViewerLeft
from tenantry.provisioning import pointer_of
from tenantry.provisioning.http import decode_json

MAX_BODY: Final = 64 * 1024
"""Bytes."""
MAX_WIDTH: Final = 8_192
"""Device pixels of a plot."""
WIDEST_PLOT: Final = 3_840
"""Device pixels: a wider plot gets the rows of this width."""
DEFAULT_WIDTH: Final = 1_280
"""Device pixels of a plot whose width the request omits."""
_MESSAGES: Final = {"extra_forbidden": "there is no such field", "missing": "this field is required"}


class StrictBody(BaseModel):
    """Strict: no coercion, no unknown fields, no values in errors."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class FilteredBody(StrictBody):
    filters: Annotated[dict[str, Any], Field(max_length=200)] = {}


class WantedPanel(StrictBody):
    """``width``: device pixels; 0: ``DEFAULT_WIDTH``. ``page`` (from 0) and ``sort`` (``-name``: descending) are for
    tables."""

    id: Annotated[str, Field(max_length=20)]
    width: Annotated[int, Field(ge=0, le=MAX_WIDTH)] = 0
    page: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    sort: Annotated[str, Field(max_length=201)] = ""

    @property
    def plot_width(self) -> int:
        """The device pixels for row reduction."""
        return min(self.width or DEFAULT_WIDTH, WIDEST_PLOT)


class PanelsRequest(FilteredBody):
    """``panels``: None for all. ``definition``: also send the dashboard. ``choices``: controls to fill; None: all with
    the definition, else none. ``fresh``: skip older cached rows. ``live``: keep the answer open. ``shown``: the
    ``as_of`` of shown panels, to ask for changes."""

    panels: Annotated[list[WantedPanel] | None, Field(max_length=600)] = None
    choices: Annotated[list[str] | None, Field(max_length=40)] = None
    definition: bool = False
    fresh: bool = False
    live: bool = False
    shown: Annotated[dict[str, Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=600)] = {}


class DownloadRequest(FilteredBody):
    format: Annotated[str, Field(pattern="^csv$")] = "csv"


class ExplanationRequest(FilteredBody):
    """A panel, with the page's filters."""


Model = TypeVar("Model", bound=StrictBody)


async def read_request(request: Request, model: type[Model]) -> Model:
    """Read and validate the body. Raises BodyTooLarge, BadJson, InvalidBody, ViewerLeft."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise BodyTooLarge(f"the body is larger than {MAX_BODY} bytes")
    except ClientDisconnect:
        raise ViewerLeft("the viewer left before the request was complete") from None
    return read_body(bytes(body), model)


def read_body(body: bytes, model: type[Model]) -> Model:
    """Validate a body. Raises BadJson, InvalidBody."""
    values = decode_json(body)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    # Raised outside of the handler, since pydantic's error holds the input.
    raise InvalidBody(_MESSAGES.get(first["type"], first["msg"]), field=pointer_of(first["loc"]))
