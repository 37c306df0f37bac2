"""The HTTP server of ``tenantry serve``."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.server.app import compose as compose
    from tenantry.server.app import make_app as make_app
    from tenantry.server.app import read_contract as read_contract
    from tenantry.server.settings import Settings as Settings
    from tenantry.server.settings import load_settings as load_settings
    from tenantry.server.telemetry import make_reporter as make_reporter
    from tenantry.server.uvicorn import Drain as Drain
    from tenantry.server.uvicorn import by_port as by_port
    from tenantry.server.uvicorn import listen as listen
    from tenantry.server.uvicorn import listen_next as listen_next
    from tenantry.server.uvicorn import run as run
    from tenantry.server.uvicorn import url_of as url_of
    from tenantry.server.workers import Supervisor as Supervisor
    from tenantry.server.workers import serve_process as serve_process
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.server.app": "compose make_app read_contract",
            "tenantry.server.settings": "Settings load_settings",
            "tenantry.server.telemetry": "make_reporter",
            "tenantry.server.uvicorn": "Drain by_port listen listen_next run url_of",
            "tenantry.server.workers": "Supervisor serve_process",
        },
    )
