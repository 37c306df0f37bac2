from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.dashboards.embedding.frame_ancestors import check_hosts as check_hosts
    from tenantry.dashboards.embedding.routes import Embedding as Embedding
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.dashboards.embedding.frame_ancestors": "check_hosts",
            "tenantry.dashboards.embedding.routes": "Embedding",
        },
    )
