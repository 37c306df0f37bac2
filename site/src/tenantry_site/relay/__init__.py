"""A reader composes requests on an API page. The relay sends them to the API, if the API's origin is configured.

Browsers cannot send a GET with a body, nor a request to an origin that does not allow it (CORS). The relay can, for
pages of the same origin. It is off unless an app mounts it. Any reader of the docs can use it, so its protection is the
list of allowed origins, which a request cannot change.
"""

from tenantry_site.relay.app import Relay
from tenantry_site.relay.errors import CODES, RelayError
from tenantry_site.relay.url import origin_of

__all__ = ["CODES", "Relay", "RelayError", "origin_of"]
