"""The user group of a request, error responses and viewer disconnects."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports
from tenantry.http.accessors import FOUND_KEY as FOUND_KEY
from tenantry.http.accessors import GROUP_CHANGED as GROUP_CHANGED
from tenantry.http.accessors import GROUP_REQUESTED_KEY as GROUP_REQUESTED_KEY
from tenantry.http.accessors import HANDSHAKE_KEY as HANDSHAKE_KEY
from tenantry.http.accessors import LAST_PART_KEY as LAST_PART_KEY
from tenantry.http.accessors import OUT_OF_SCOPE_KEY as OUT_OF_SCOPE_KEY
from tenantry.http.accessors import SCOPE_KEY as SCOPE_KEY
from tenantry.http.accessors import VIEWER_KEY as VIEWER_KEY
from tenantry.http.accessors import GroupRequested as GroupRequested
from tenantry.http.accessors import Handshake as Handshake
from tenantry.http.accessors import user_group as user_group
from tenantry.http.accessors import variables as variables
from tenantry.http.responses import Connection as Connection
from tenantry.http.responses import error_document as error_document
from tenantry.http.responses import error_response as error_response
from tenantry.http.responses import has_encoded_slash as has_encoded_slash
from tenantry.http.responses import prefers_problem as prefers_problem
from tenantry.http.responses import request_id_of as request_id_of

if TYPE_CHECKING:
    from tenantry.http.responses import HTTPConnection as HTTPConnection
    from tenantry.http.viewers import VIEWER_OF_THREAD as VIEWER_OF_THREAD
    from tenantry.http.viewers import ask_for_thread as ask_for_thread
    from tenantry.http.viewers import watched_request as watched_request
    from tenantry.http.viewers import while_connected as while_connected
    from tenantry.http.viewers import while_thread_works as while_thread_works
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.http.responses": "HTTPConnection",
            "tenantry.http.viewers": (
                "VIEWER_OF_THREAD ask_for_thread watched_request while_connected while_thread_works"
            ),
        },
    )
