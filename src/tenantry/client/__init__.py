"""A typed client of ``/api/user``, for threads and for asyncio (extra ``http``).

with Client("https://tenantry.example.com", api_token=...) as client:
    token = client.get_or_create("acme", properties={"region": "eu"}).token
"""

from tenantry.client.calls import ProvisionedGroup
from tenantry.client.clients import AsyncClient, Client

__all__ = ["AsyncClient", "Client", "ProvisionedGroup"]
