"""The frozen records that every other floor speaks in."""

from tenantry.groups.api_token import ApiToken, Scope
from tenantry.groups.author import UNNAMED, AuditEntry, Author
from tenantry.groups.caller import Caller
from tenantry.groups.change import CHANNEL, Change, Changes, read_notice, write_notice
from tenantry.groups.data_source import RegisteredSource
from tenantry.groups.draft import UNCHANGED, GroupChanges, GroupDraft, Once, Unchanged
from tenantry.groups.environment import Environment, Tag
from tenantry.groups.group import RESERVED_NAMES, Issued, UserGroup
from tenantry.groups.reading import Reading
from tenantry.groups.record import JSON, Record, RecordList, adopt, extend, freeze, thaw
from tenantry.groups.token import Token

__all__ = [
    "CHANNEL",
    "JSON",
    "RESERVED_NAMES",
    "UNCHANGED",
    "UNNAMED",
    "ApiToken",
    "AuditEntry",
    "Author",
    "Caller",
    "Change",
    "Changes",
    "Environment",
    "GroupChanges",
    "GroupDraft",
    "Issued",
    "Once",
    "Reading",
    "Record",
    "RecordList",
    "RegisteredSource",
    "Scope",
    "Tag",
    "Token",
    "Unchanged",
    "UserGroup",
    "adopt",
    "extend",
    "freeze",
    "read_notice",
    "thaw",
    "write_notice",
]
