from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.datasources.catalogue.draft import draft_tables as draft_tables
    from tenantry.datasources.catalogue.draft import tables_yaml as tables_yaml
    from tenantry.datasources.catalogue.model import Catalogue as Catalogue
    from tenantry.datasources.catalogue.reader import read_catalogue as read_catalogue
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.datasources.catalogue.draft": "draft_tables tables_yaml",
            "tenantry.datasources.catalogue.model": "Catalogue",
            "tenantry.datasources.catalogue.reader": "read_catalogue",
        },
    )
