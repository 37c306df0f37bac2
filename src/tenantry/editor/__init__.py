"""The SQL editor: authors write queries and dashboards as files, and run them as any user group (docs/editor.md)."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.editor.authors import ALL_BUT_UNGUARDED as ALL_BUT_UNGUARDED
    from tenantry.editor.authors import EditorAuthor, Right
    from tenantry.editor.mount import mount_editor
    from tenantry.editor.sessions import EditorSessions
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.editor.authors": "ALL_BUT_UNGUARDED EditorAuthor Right",
            "tenantry.editor.mount": "mount_editor",
            "tenantry.editor.sessions": "EditorSessions",
        },
    )

__all__ = ["EditorAuthor", "EditorSessions", "Right", "mount_editor"]
