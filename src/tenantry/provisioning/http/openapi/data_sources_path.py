from __future__ import annotations

from typing import Any, Final

from tenantry.groups import Scope
from tenantry.provisioning.http.data_sources import DEFAULT_PAGE, LARGEST_PAGE
from tenantry.provisioning.http.endpoint import DEFAULT_FORMAT
from tenantry.provisioning.http.fields import TEXT_SCHEMA
from tenantry.provisioning.http.openapi.errors import COMMON, SOURCES, error_responses
from tenantry.provisioning.http.openapi.examples import SOURCE_REQUESTS, SOURCE_WRITTEN, SOURCES_LISTED
from tenantry.provisioning.http.openapi.paths import DRY_RUN, query_parameter, success
from tenantry.provisioning.http.openapi.schema_parts import reference

JsonObject = dict[str, Any]

_LIST: Final = (
    "The data sources of the API token's environment, ordered by name, in pages. Answers contain no password: secrets "
    "in a URL are `***`. `groups` is the number of user groups whose mapping names the data source. With `name`, the "
    "page has only the data source with this name or id, or none."
)
_CREATE: Final = (
    "Registers a data source under a name of your choice. The service first connects to the data source, unless `test` "
    "is false. The URL may name only hosts that the setting `api_source_hosts` of the service allows. Files, "
    "references such as `env:NAME`, and options with paths are refused."
)
_UPDATE: Final = (
    "Fields that the body does not contain stay as they are. A new `url` replaces the whole URL, including its "
    "password. `tables` replaces the declaration of guarded tables, and null removes it; the next query of each app "
    "uses the change. `session` replaces all session variables, and null removes them. `new_name` renames the data "
    "source, but is refused while groups are mapped to the old name. If `url`, `password`, `tables` or `session` "
    "gets a new value, the service first connects to the data source, unless `test` is false."
)
_DELETE: Final = (
    "If groups are mapped to the data source, their queries fail after the deletion, so the deletion needs "
    "`force=true`. If you later create a data source with the same name, groups that map to this name use it."
)
_UPDATE_CODES: Final = ("data_source_not_found", "already_exists", "data_source_in_use")
_SCOPE: Final = [{"apiToken": [Scope.SOURCES.value]}]
_DRY_RUN: Final[JsonObject] = {
    **DRY_RUN,
    "description": "With `true`, nothing is written. The data source is tested, and the answer is the same as for the "
    "write. A success has the header `Dry-Run`.",
}
_NAME: Final = query_parameter("name", "The name or id of the data source.", TEXT_SCHEMA)


def data_sources_path() -> JsonObject:
    return {
        "get": _operation(
            "listDataSources",
            "List data sources",
            _LIST,
            [
                {**_NAME, "description": "Only the data source with this name or id."},
                query_parameter("after", "Only names after this name. Send `next` of the previous page.", TEXT_SCHEMA),
                query_parameter(
                    "limit",
                    f"Maximum number of data sources per page. Default: {DEFAULT_PAGE}.",
                    {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE},
                ),
            ],
            success("A page of data sources", reference("ListedSources"), SOURCES_LISTED),
            COMMON,
        ),
        "post": _write("createDataSource", "Register a data source", _CREATE, "CreateSource", ("already_exists",)),
        "patch": _write("updateDataSource", "Change a data source", _UPDATE, "PatchSource", _UPDATE_CODES),
        "delete": _operation(
            "deleteDataSource",
            "Delete a data source",
            _DELETE,
            [
                {**_NAME, "required": True},
                query_parameter("force", "Delete it even if groups are mapped to it.", {"type": "boolean"}),
                _DRY_RUN,
            ],
            _written(),
            (*COMMON, "outcome_unknown", "data_source_not_found", "unknown_data_source", "data_source_in_use"),
        ),
    }


def _write(name: str, summary: str, about: str, body: str, codes: tuple[str, ...]) -> JsonObject:
    media = {"schema": reference(body), "examples": SOURCE_REQUESTS[body]}
    operation = _operation(name, summary, about, [_DRY_RUN], _written(), (*SOURCES, *codes))
    return {**operation, "requestBody": {"required": True, "content": {"application/json": media}}}


def _written() -> JsonObject:
    done = success("Done", reference("WrittenSource"), SOURCE_WRITTEN)
    done["headers"]["Dry-Run"] = {"$ref": "#/components/headers/DryRun"}
    return done


def _operation(
    name: str, summary: str, about: str, parameters: list[JsonObject], done: JsonObject, codes: tuple[str, ...]
) -> JsonObject:
    return {
        "operationId": name,
        "summary": summary,
        "description": about,
        "tags": ["Data sources"],
        "security": _SCOPE,
        "parameters": parameters,
        "responses": {"200": done, **error_responses(codes, DEFAULT_FORMAT)},
    }
