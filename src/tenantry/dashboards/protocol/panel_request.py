from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request

from tenantry.errors import BodyTooLarge, InvalidBody, ViewerLeft
from tenantry.provisioning import pointer_of
from tenantry.provisioning.http import decode_json

MAX_BODY: Final = 64 * 1024
MAX_WIDTH: Final = 8_192
"""Maximum width of a plot in a request, in device pixels."""
WIDEST_PLOT: Final = 3_840
"""Maximum width, in device pixels, for which rows are reduced. A wider plot gets the rows for this width."""
DEFAULT_WIDTH: Final = 1_280
"""Width, in device pixels, of a plot for which the request gives no width."""
_MESSAGES: Final = {"extra_forbidden": "there is no such field", "missing": "this field is required"}


class StrictBody(BaseModel):
    """A request body: values are not converted, and unknown fields are errors. The errors contain no values."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class FilteredBody(StrictBody):
    filters: Annotated[dict[str, Any], Field(max_length=200)] = {}
    """The values of the controls, by name."""


class WantedPanel(StrictBody):
    id: Annotated[str, Field(max_length=20)]
    width: Annotated[int, Field(ge=0, le=MAX_WIDTH)] = 0
    """Width of the plot in device pixels; 0: ``DEFAULT_WIDTH``."""
    page: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Page of a table, from 0."""
    sort: Annotated[str, Field(max_length=201)] = ""
    """The column by which a table is sorted; ``-name`` sorts in descending order."""

    @property
    def plot_width(self) -> int:
        return min(self.width or DEFAULT_WIDTH, WIDEST_PLOT)


class PanelsRequest(FilteredBody):
    panels: Annotated[list[WantedPanel] | None, Field(max_length=600)] = None
    """The panels to run; None: all."""
    width: Annotated[int, Field(ge=0, le=MAX_WIDTH)] = 0
    """If ``panels`` is None, the width of all plots in device pixels; 0: ``DEFAULT_WIDTH``."""
    choices: Annotated[list[str] | None, Field(max_length=40)] = None
    """The controls whose choices are queried. With None, these are all controls if ``definition`` is true, otherwise
    none."""
    definition: bool = False
    """Whether to send the description of the dashboard."""
    fresh: bool = False
    """Whether to run a query again if the cached rows are older than ``FRESH`` seconds."""
    live: bool = False
    """Whether to keep the response open, and to send a line when rows change."""
    shown: Annotated[dict[str, Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=600)] = {}
    """The ``as_of`` of the rows that the page shows, by panel id. The response says which of these panels have changed
    since that time."""


class DownloadRequest(FilteredBody):
    format: Annotated[str, Field(pattern="^csv$")] = "csv"
    decimal_comma: bool = False
    """Whether the file has decimal commas, as the page does, and semicolons as separators."""


Model = TypeVar("Model", bound=StrictBody)


async def read_request(
    request: Request, model: type[Model], *, optional: bool = False, max_bytes: int = MAX_BODY
) -> Model:
    """Read a body. With ``optional``, it may be empty. Raises BodyTooLarge, BadJson, InvalidBody, ViewerLeft."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > max_bytes:
                raise BodyTooLarge(f"the body is larger than {max_bytes} bytes")
    except ClientDisconnect:
        raise ViewerLeft("the viewer left before the request was complete") from None
    return model() if optional and not body else read_body(bytes(body), model)


def read_body(body: bytes, model: type[Model]) -> Model:
    """Validate a body. Raises BadJson, InvalidBody."""
    values = decode_json(body)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    # Raise outside the except block: otherwise pydantic's error, which contains the input, would be the __context__.
    raise InvalidBody(_MESSAGES.get(first["type"], first["msg"]), field=pointer_of(first["loc"]))
