from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.backends.audit.chain import ChainCheck as ChainCheck
    from tenantry.backends.audit.chain import read_head as read_head
    from tenantry.backends.audit.chain import write_head as write_head
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.backends.audit.chain": "ChainCheck read_head write_head",
        },
    )
