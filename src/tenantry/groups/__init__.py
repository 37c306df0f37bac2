"""Frozen records shared by all packages, and the codec of a user group."""

from tenantry.groups.api_token import ApiToken, Caller, RevokedApiToken, Scope
from tenantry.groups.codec import (
    CACHE_ENTRY,
    INTROSPECTION,
    JSON_COLUMNS,
    STORED_RESPONSE,
    TIME_COLUMNS,
    EnvironmentRow,
    GroupCodec,
    GroupRow,
    from_micros,
    to_micros,
)
from tenantry.groups.moments import MOMENT_RULE, read_moment, write_moment
from tenantry.groups.property_schema import VIEWER_SCHEMA as VIEWER_SCHEMA
from tenantry.groups.property_schema import PropertySchema as PropertySchema
from tenantry.groups.property_schema import SchemaLearner as SchemaLearner
from tenantry.groups.property_schema_files import read_schema as read_schema
from tenantry.groups.property_schema_files import read_schemas as read_schemas
from tenantry.groups.property_schema_files import schema_file as schema_file
from tenantry.groups.property_schema_files import schema_names as schema_names
from tenantry.groups.record import JSON, Record, RecordList, adopt, extend, freeze, thaw
from tenantry.groups.registered_source import SOURCES_HANDLE, RegisteredSource, SourceLookupResult, source_handle
from tenantry.groups.revocations import MAX_REVOKED_VIEWERS as MAX_REVOKED_VIEWERS
from tenantry.groups.revocations import revoking_changes as revoking_changes
from tenantry.groups.session_variables import SessionVariables, check_session_variables
from tenantry.groups.strict_json import MAX_INT as MAX_INT
from tenantry.groups.strict_json import STRICT_JSON as STRICT_JSON
from tenantry.groups.strict_json import is_storable_text as is_storable_text
from tenantry.groups.strict_json import number_problem as number_problem
from tenantry.groups.strict_json import read_json_strictly as read_json_strictly
from tenantry.groups.usage_sums import OTHER_GROUPS, OTHER_VIEWERS, HourlyUsage, Usage, UsageBatch, UsageKey
from tenantry.groups.user_group import (
    RESERVED_NAMES,
    Environment,
    Issued,
    LookupResult,
    Tag,
    Token,
    UserGroup,
)
from tenantry.groups.viewer import DASHBOARD as DASHBOARD
from tenantry.groups.viewer import LONGEST_PASS as LONGEST_PASS
from tenantry.groups.viewer import Viewer
from tenantry.groups.writes import CHANGEABLE_FIELDS as CHANGEABLE_FIELDS
from tenantry.groups.writes import (
    CHANNEL,
    LATER_SETTABLE_FIELDS,
    SETTABLE_FIELDS,
    UNCHANGED,
    UNNAMED,
    AuditEntry,
    AuditNote,
    Author,
    ChainHead,
    Change,
    Changes,
    GroupChanges,
    GroupCreation,
    GroupDraft,
    GroupRotation,
    GroupUpdate,
    GroupWrite,
    IdempotencyKey,
    Seal,
    SourceDraft,
    SourceUpdate,
    Unchanged,
    merge_patch,
    merged_changes,
    merged_draft,
    read_notice,
    write_notice,
)

__all__ = [
    "CACHE_ENTRY",
    "CHANNEL",
    "INTROSPECTION",
    "JSON",
    "JSON_COLUMNS",
    "LATER_SETTABLE_FIELDS",
    "MOMENT_RULE",
    "OTHER_GROUPS",
    "OTHER_VIEWERS",
    "RESERVED_NAMES",
    "SETTABLE_FIELDS",
    "SOURCES_HANDLE",
    "STORED_RESPONSE",
    "TIME_COLUMNS",
    "UNCHANGED",
    "UNNAMED",
    "ApiToken",
    "AuditEntry",
    "AuditNote",
    "Author",
    "Caller",
    "ChainHead",
    "Change",
    "Changes",
    "Environment",
    "EnvironmentRow",
    "GroupChanges",
    "GroupCodec",
    "GroupCreation",
    "GroupDraft",
    "GroupRotation",
    "GroupRow",
    "GroupUpdate",
    "GroupWrite",
    "HourlyUsage",
    "IdempotencyKey",
    "Issued",
    "LookupResult",
    "Record",
    "RecordList",
    "RegisteredSource",
    "RevokedApiToken",
    "Scope",
    "Seal",
    "SessionVariables",
    "SourceDraft",
    "SourceLookupResult",
    "SourceUpdate",
    "Tag",
    "Token",
    "Unchanged",
    "Usage",
    "UsageBatch",
    "UsageKey",
    "UserGroup",
    "Viewer",
    "adopt",
    "check_session_variables",
    "extend",
    "freeze",
    "from_micros",
    "merge_patch",
    "merged_changes",
    "merged_draft",
    "read_moment",
    "read_notice",
    "source_handle",
    "thaw",
    "to_micros",
    "write_moment",
    "write_notice",
]
