"""The frozen records that every other floor speaks in."""

from tenantry.groups.api_token import ApiToken, Scope
from tenantry.groups.data_source import RegisteredSource
from tenantry.groups.draft import UNCHANGED, GroupChanges, GroupDraft, Once, Unchanged
from tenantry.groups.environment import Environment, Tag
from tenantry.groups.group import RESERVED_NAMES, Issued, UserGroup
from tenantry.groups.record import JSON, Record, RecordList, extend, freeze, thaw
from tenantry.groups.token import Token

__all__ = [
    "JSON",
    "RESERVED_NAMES",
    "UNCHANGED",
    "ApiToken",
    "Environment",
    "GroupChanges",
    "GroupDraft",
    "Issued",
    "Once",
    "Record",
    "RecordList",
    "RegisteredSource",
    "Scope",
    "Tag",
    "Token",
    "Unchanged",
    "UserGroup",
    "extend",
    "freeze",
    "thaw",
]
