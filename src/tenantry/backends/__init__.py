"""Backends that find user groups, a second-level cache in Redis, and buses."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.backends.replication import attach_redis as attach_redis
    from tenantry.backends.source_changes import changed_source as changed_source
    from tenantry.backends.source_changes import created_source as created_source
    from tenantry.backends.stored import UNKNOWN_TOKEN as UNKNOWN_TOKEN
    from tenantry.backends.stored import StoredGroup as StoredGroup
    from tenantry.backends.stored import matches as matches
    from tenantry.backends.stored import use_is_recorded as use_is_recorded
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.backends.replication": "attach_redis",
            "tenantry.backends.source_changes": "changed_source created_source",
            "tenantry.backends.stored": "StoredGroup UNKNOWN_TOKEN matches use_is_recorded",
        },
    )
