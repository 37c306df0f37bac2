from __future__ import annotations

from tenantry.dashboards import DashboardFolder, ReloadingFolder, Stamp
from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.previews.shared_drafts import SharedDrafts
from tenantry.editor.workspace import FileKind, Workspace
from tenantry.errors import InvalidDashboards, InvalidQueries


class DraftedFolder(ReloadingFolder):
    """Reads the dashboard of a preview and the dashboards that its clicks open. Unsaved texts replace their files."""

    def __init__(
        self, workspace: Workspace, queries: QueryDrafts, shared: SharedDrafts, preview: str, dashboard: str
    ) -> None:
        super().__init__(workspace.dashboards)
        self._workspace = workspace
        self._queries = queries
        self._shared = shared
        self._preview = preview
        self._dashboard = dashboard

    def stamp(self) -> Stamp:
        return super().stamp() | {self._shared.stamp(self._preview)}

    def read(self) -> DashboardFolder:
        found = self._shared.read(self._preview)
        if found is None:
            raise InvalidDashboards("this preview has ended: open it again", errors=())
        workspace = self._workspace
        drafts = {
            path.removeprefix(workspace.prefix): text
            for path, text in found.drafts.items()
            if workspace.kind(path) is FileKind.DASHBOARD
        }
        try:
            return DashboardFolder(
                self.path,
                self._queries.with_drafts(found.drafts),
                drafts=drafts,
                only=self._dashboard,
                follow_links=False,
            )
        except InvalidQueries as error:
            shown = error.message.replace(f"{workspace.queries.parent}/", "")  # paths as the author knows them
            raise type(error)(shown, errors=error.errors) from None
