"""The relay: sends the requests that a reader composes on an API page, to the origins that were configured.

A browser sends no GET with a body and no request to another origin that does not expect it. The relay does, for the
pages of its own origin. Off unless an app mounts it. Whoever reaches the docs can use it: its list of origins is the
wall, and nothing that a request says can move it.
"""

from tenantry_site.relay.app import Relay
from tenantry_site.relay.errors import CODES, RelayError
from tenantry_site.relay.url import origin_of

__all__ = ["CODES", "Relay", "RelayError", "origin_of"]
