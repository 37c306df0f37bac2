"""The HTTP interface ``/api/user`` (SPEC sections 4, 5, 7)."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports
from tenantry.provisioning.http.api_token_uses import ApiTokenUses as ApiTokenUses
from tenantry.provisioning.http.dry_run import DryRunProvisioner as DryRunProvisioner
from tenantry.provisioning.http.dry_run import group_to_write as group_to_write
from tenantry.provisioning.http.endpoint import STORE_SECONDS as STORE_SECONDS
from tenantry.provisioning.http.endpoint import Endpoint as Endpoint
from tenantry.provisioning.http.endpoint import Observer, RequestRecord, not_found
from tenantry.provisioning.http.endpoint import authenticate as authenticate
from tenantry.provisioning.http.endpoint import digest_of as digest_of
from tenantry.provisioning.http.endpoint import json_response as json_response
from tenantry.provisioning.http.endpoint import require_scope as require_scope
from tenantry.provisioning.http.ndjson_reader import Line as Line
from tenantry.provisioning.http.ndjson_reader import LineSplitter as LineSplitter
from tenantry.provisioning.http.operations import parse_line as parse_line
from tenantry.provisioning.http.request import ApiRequest as ApiRequest
from tenantry.provisioning.http.routes import FastRouter, create_api
from tenantry.provisioning.http.source_hosts import SourceHosts as SourceHosts
from tenantry.provisioning.http.strict_json import decode_json as decode_json
from tenantry.provisioning.http.upsert_lines import UpsertBatch as UpsertBatch
from tenantry.provisioning.http.upsert_lines import UpsertCounts as UpsertCounts
from tenantry.provisioning.http.upsert_lines import read_line as read_line

if TYPE_CHECKING:
    from tenantry.provisioning.http.openapi import openapi_document
else:
    __getattr__, __dir__ = lazy_exports(__name__, {"tenantry.provisioning.http.openapi": "openapi_document"})

__all__ = ["FastRouter", "Observer", "RequestRecord", "create_api", "not_found", "openapi_document"]
