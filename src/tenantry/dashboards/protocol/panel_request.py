"""The body of a request for panels, as strict JSON: which panels, in which size, with which filters."""

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
"""Device pixels for which rows are chosen at most: a wider plot has the rows of this one."""
DEFAULT_WIDTH: Final = 1_280
"""Device pixels of a plot whose width a request does not say."""
_MESSAGES: Final = {"extra_forbidden": "there is no such field", "missing": "this field is required"}


class StrictBody(BaseModel):
    """No coercion, no unknown field, and no value in an error."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class FilteredBody(StrictBody):
    """With what the viewer has chosen."""

    filters: Annotated[dict[str, Any], Field(max_length=200)] = {}


class WantedPanel(StrictBody):
    """One panel. ``width``: of its plot, in device pixels; 0: ``DEFAULT_WIDTH``. ``page`` (from 0) and ``sort`` (a
    column; ``-name``: the largest first) are for tables."""

    id: Annotated[str, Field(max_length=20)]
    width: Annotated[int, Field(ge=0, le=MAX_WIDTH)] = 0
    page: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    sort: Annotated[str, Field(max_length=201)] = ""

    @property
    def plot_width(self) -> int:
        """The device pixels for which the rows of a chart are chosen."""
        return min(self.width or DEFAULT_WIDTH, WIDEST_PLOT)


class PanelsRequest(FilteredBody):
    """``panels``: None for all. ``definition``: the dashboard itself is wanted too. ``choices``: the controls whose
    choices are wanted; None: those of all with the definition, else of none. ``fresh``: rows of a cache will not do,
    unless they are of this moment. ``live``: the answer stays open, unless the group has ``MAX_OPEN`` of them in this
    process: then it ends, and the page asks from time to time. ``shown``: panels that the page shows with the ``as_of``
    of their lines, of which it wants to know which have other rows since; one that there is no more is no matter."""

    panels: Annotated[list[WantedPanel] | None, Field(max_length=600)] = None
    choices: Annotated[list[str] | None, Field(max_length=40)] = None
    definition: bool = False
    fresh: bool = False
    live: bool = False
    shown: Annotated[dict[str, Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=600)] = {}


class DownloadRequest(FilteredBody):
    """``format``: of the file."""

    format: Annotated[str, Field(pattern="^csv$")] = "csv"


class ExplanationRequest(FilteredBody):
    """Of a panel as the filters make it."""


Model = TypeVar("Model", bound=StrictBody)


async def read_request(request: Request, model: type[Model]) -> Model:
    """The body. Raises BodyTooLarge, BadJson, InvalidBody, ViewerLeft."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise BodyTooLarge(f"the body is larger than {MAX_BODY} bytes")
    except ClientDisconnect:
        raise ViewerLeft("the viewer left before all of the request was here") from None
    return read_body(bytes(body), model)


def read_body(body: bytes, model: type[Model]) -> Model:
    """What a whole body says. Raises BadJson, InvalidBody."""
    values = decode_json(body)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    # Raised here, and not in the handler: the error of pydantic holds the input.
    raise InvalidBody(_MESSAGES.get(first["type"], first["msg"]), field=pointer_of(first["loc"]))
