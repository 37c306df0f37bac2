"""Which headers of a reader the relay sends: those that the docs declare, and none that names a client or a user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenantry_site import site_app
from tenantry_site.relay import Relay
from tenantry_site.relay.request import is_never_sent, sendable
from tests.app.wire import ask
from tests.relay.stage import OWN, World, post

NAMING = [
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-User",
    "X-Forwarded-Email",
    "X-Forwarded-Client-Cert",
    "X_Forwarded_For",
    "Forwarded",
    "X-Real-IP",
    "X-Client-IP",
    "Client-IP",
    "Client_IP",
    "True-Client-IP",
    "X-Cluster-Client-IP",
    "CF-Connecting-IP",
    "CF-Access-Jwt",
    "CF-IPCountry",
    "Fastly-Client-IP",
    "Fly-Client-IP",
    "X-Azure-ClientIP",
    "X-Azure-SocketIP",
    "X-Appengine-User-IP",
    "X-Envoy-External-Address",
    "X-Originating-IP",
    "X-Remote-IP",
    "X-Remote-Addr",
    "X-ProxyUser-Ip",
    "X-Host",
    "X-Original-URL",
    "X-Original-Forwarded-For",
    "X-Rewrite-URL",
    "X-Original-Host",
    "Remote-Addr",
    "Remote-Host",
    "Remote_Host",
    "HTTP_X_FORWARDED_FOR",
    "WL-Proxy-Client-IP",
    "Proxy-Client-IP",
    "Remote-User",
    "REMOTE_USER",
    "Remote_User",
    "remote.user",
    "X-Remote-User",
    "X-Remote-Groups",
    "X-Remote-Extra-scopes",
    "X-User",
    "X-Username",
    "X-User-Email",
    "X-Auth-User",
    "X-Auth-Email",
    "X-Auth-Username",
    "X-Authenticated-User",
    "X-Authenticated-Userid",
    "X-WEBAUTH-USER",
    "X-Auth-Request-User",
    "X-Auth-Request-Email",
    "X-Auth-Request-Preferred-Username",
    "X-Goog-Authenticated-User-Email",
    "X-Goog-IAP-JWT-Assertion",
    "X-MS-CLIENT-PRINCIPAL",
    "X-MS-CLIENT-PRINCIPAL-NAME",
    "X-MS-TOKEN-AAD-ID-TOKEN",
    "X-Amzn-Oidc-Identity",
    "X-Amzn-Oidc-Data",
    "X-Amzn-Mtls-Clientcert",
    "X-SSL-Client-Cert",
    "X-SSL-Client-S-DN",
    "X-SSL-Client-Verify",
    "SSL-Client-Cert",
    "SSL_CLIENT_VERIFY",
    "X-SSL-Cert",
    "X-Client-Cert",
    "X-Client-Certificate",
    "X-Client-DN",
    "X-Client-Verify",
    "Client-Cert",
    "Client-Cert-Chain",
    "X-ARR-ClientCert",
    "X-TLS-Client-Cert",
    "X-Tls-Client-Subject",
    "X-Forwarded-Tls-Client-Cert",
    "X-SSL",
    "OIDC_CLAIM_sub",
    "OIDC-Claim-Email",
    "X-Authentik-Username",
    "X-Pomerium-Jwt-Assertion",
    "X-Vouch-User",
    "Tailscale-User-Login",
    "Impersonate-User",
    "X-Consumer-Username",
    "X-Credential-Identifier",
    "Auth-Type",
    "X-Shib-User",
    "Proxy-Authorization",
    "Proxy",
    "Host",
    "Connection",
    "Transfer-Encoding",
    "X-HTTP-Method-Override",
    "X-Method-Override",
    "X-Tenantry-Relay",
    "Metadata-Flavor",
    "X-aws-ec2-metadata-token",
    "X-RealIP",
    "ClientIP",
    "X-ClientIP",
    "X-Client-Src-IP",
    "X-CDN-Src-Ip",
    "X-RemoteIP",
    "X-RemoteAddr",
    "RemoteAddr",
    "X-SourceIP",
    "X-TrueClientIP",
    "X-Sucuri-ClientIP",
    "X-NF-Client-Connection-IP",
    "X-FD-ClientIP",
    "X-Client-Hostname",
    "X-Backend-Host",
    "X-HTTP-Host-Override",
    "X-HTTP-Verb-Override",
    "X-Override-URL",
    "Z-Forwarded-For",
    "CloudFront-Viewer-Address",
    "CloudFront-Forwarded-Proto",
    "X-UserId",
    "X-UserInfo",
    "X-User-Info",
    "X-Uid",
    "X-Email",
    "X-Principal-Name",
    "X-OAuth-User",
    "X-LDAP-User",
    "X-Kerberos-User",
    "X-Grafana-User",
    "X-Login-User",
    "X-Current-User",
    "X-Gateway-User",
    "SM_USER",
    "SM-UserDN",
    "IV-User",
    "iv-groups",
    "OAM_REMOTE_USER",
    "Osso-User-Dn",
    "Gap-Auth",
    "X-Endpoint-API-UserInfo",
    "X-Apigateway-Api-Userinfo",
    "X-Amzn-Request-Context",
    "X-Amzn-RequestContext",
    "X-JWT-Claims",
    "X-Token-Payload",
    "X-Identity",
    "X-RH-Identity",
    "X-Hasura-User-Id",
    "X-Hasura-Role",
    "X-Impersonate",
    "X-Act-As",
    "X-Run-As",
    "X-On-Behalf-Of",
    "X-Authenticated-Groups",
    "X-Client-CN",
    "X-Client-S-DN",
    "X-Subject-DN",
    "X-Certificate",
    "X-Cert-Subject",
    "X-SPIFFE-ID",
    "L5d-Client-Id",
    "Dapr-Caller-App-Id",
    "From",
    "X-Openid-Sub",
    "X-Openid-Email",
    "X-Krb-Principal",
    "X-Auth-Principal",
    "X-AUTHENTICATE-UID",
    "X-AUTHENTICATE-ROLES",
    "MS-ASPNETCORE-WINAUTHTOKEN",
    "MS-ASPNETCORE-CLIENTCERT",
    "X-Kong-Consumer",
    "X-Kong-Consumer-Id",
    "X-Jwt-Assertion",
    "X-ID-Token",
    "X-Forwarded-Id-Token",
    "X-Token-Subject",
    "X-Token-Sub",
    "X-Jwt-Sub",
    "X-Sub",
    "Sub",
    "X-Subject",
    "X-Authz-Subject",
    "X-Actor",
    "X-Actor-Id",
    "X-Employee-Id",
    "X-EmployeeNumber",
    "X-Person-Id",
    "X-Member-Id",
    "X-Member",
    "X-Staff-Id",
    "X-Preferred-Username",
]

OF_APIS = [
    "X-API-Key",
    "Api-Key",
    "X-Api-Version",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Prefer",
    "Range",
    "Accept-Language",
    "User-Agent",
    "X-Request-Id",
    "X-Team-Id",
    "X-Organization",
    "X-Tenant",
    "X-Client-Id",
    "X-Client-Secret",
    "X-Client-Version",
    "X-Auth-Token",
    "X-Amz-Date",
    "X-User-Agent",
    "Anthropic-Version",
    "Notion-Version",
    "OpenAI-Organization",
    "Stripe-Account",
    "X-Project-Id",
    "X-Host-Group",
    "X_API_KEY",
    "Tus-Resumable",
    "X-Session-Token",
    "X-Signature",
    "X-CSRF-Token",
    "X-Trace-Id",
    "traceparent",
    "Client-Id",
    "X-Api-User",
    "X-Goog-User-Project",
    "X-Client-Token",
    "X-User-Token",
    "X-Hasura-Admin-Secret",
    "X-RapidAPI-Host",
    "X-Amz-Security-Token",
    "X-Source",
    "X-Source-Id",
    "X-Region",
    "X-Certificate-Id",
    "X-Peer-Id",
    "X-Email-Template",
    "X-Impersonation-Token",
    "X-Amzn-Trace-Id",
    "X-Account-Id",
    "X-Role-Arn",
    "X-Fields-From",
    "X-Identity-Provider",
    "X-Jwt-Token",
    "X-Access-Token",
    "X-Subject-Token",
    "Ocp-Apim-Subscription-Key",
    "X-Subscription-Token",
    "X-Subscription-Id",
    "X-RapidAPI-Key",
    "X-Tenant-Id",
    "X-Customer-Id",
    "X-Membership-Id",
    "X-Factor",
    "X-Authentication-Key",
    "X-OpenAI-Key",
    "WM_CONSUMER.ID",
    "Kong-Admin-Token",
    "Api-Username",
    "X-Token",
    "X-Id",
    "X-Grid-Token",
    "X-Service-Key",
]


@pytest.mark.parametrize("name", NAMING)
async def test_a_name_of_a_client_or_a_user_is_never_sent(name: str, stage: World) -> None:
    """Though the documents declare it. Red when the check is left out, or reads the name as it stands."""
    origin = stage.fill("http://127.0.0.1:{allowed}")
    relay = Relay([], [origin])
    declaring = _declaring(relay, NAMING)
    answer = await post(declaring, {"url": origin, "headers": {name: "127.0.0.1"}})  # type: ignore[arg-type]
    assert (answer.status, answer.code) == (400, "header_refused")
    assert stage.allowed.accepts == 0
    assert is_never_sent(name)
    assert name.lower() not in sendable([name])
    with pytest.raises(ValueError, match="never"):
        Relay([], [origin], headers=[name])


@pytest.mark.parametrize("name", OF_APIS)
async def test_what_the_docs_declare_is_sent_and_nothing_else(name: str, stage: World) -> None:
    """Red when the list of what may pass is not asked, and when a header that APIs use is taken for a client's."""
    origin = stage.fill("http://127.0.0.1:{allowed}")
    relay = Relay([], [origin])
    asked = {"url": origin, "headers": {name: "v"}}
    refused = await post(relay, asked)
    assert (refused.status, refused.code, stage.allowed.accepts) == (400, "header_refused", 0)
    assert name in refused.content["error"]["message"]
    assert (await post(_declaring(relay, [name]), asked)).status == 200  # type: ignore[arg-type]
    assert f"{name}: v".encode() in stage.allowed.requests[0]
    assert (await post(Relay([], [origin], headers=[name.upper()]), asked)).status == 200


async def test_three_headers_need_no_document(stage: World, relay: Relay) -> None:
    headers = {"Accept": "text/csv", "content-type": "text/plain", "AUTHORIZATION": "Token t"}
    answer = await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/"), "headers": headers})
    assert answer.status == 200
    for other in ("content_type", "Accept-Charset", "X-Anything"):
        assert (
            await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/"), "headers": {other: "a"}})
        ).status == 400


def _declaring(relay: Relay, names: list[str]) -> Any:
    """The relay as a docs app calls it."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await relay({**scope, "tenantry_site.request_headers": frozenset(names)}, receive, send)

    return app


DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "components": {
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Thing-Key"},
            "query": {"type": "apiKey", "in": "query", "name": "X-In-Query"},
        },
        "parameters": {"Trace": {"name": "X-Trace", "in": "header", "schema": {"type": "string"}}},
    },
    "paths": {
        "/things": {
            "parameters": [{"$ref": "#/components/parameters/Trace"}],
            "get": {
                "parameters": [
                    {"name": "X-Page", "in": "header", "schema": {"type": "string"}},
                    {"name": "X-Cluster-Client-IP", "in": "header", "schema": {"type": "string"}},
                    {"name": "X-Not-A-Header", "in": "query", "schema": {"type": "string"}},
                ],
                "responses": {},
            },
        }
    },
}

SITE = {
    "name": "Things",
    "openapi": "things.json",
    "api": {"auth": {"method": "key", "name": "X-Configured"}},
    "navigation": [{"group": "All", "pages": ["index", "own"]}],
}


async def test_a_site_gives_its_relay_what_its_documents_and_pages_declare(stage: World, tmp_path: Path) -> None:
    """Red when the app does not pass the names on, or leaves out one of the places that have them."""
    (tmp_path / "site.json").write_text(json.dumps(SITE))
    (tmp_path / "things.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "index.md").write_text("# Home\n")
    own = '---\napi: "GET /own"\n---\n<ParamField header="X-Written" type="string">Of the author.</ParamField>\n'
    (tmp_path / "own.mdx").write_text(own)
    origin = stage.fill("http://127.0.0.1:{allowed}")
    app = site_app(tmp_path, relay=Relay([], [origin]))

    async def status(name: str) -> int:
        body = json.dumps({"url": origin, "headers": {name: "v"}}).encode()
        return (await ask(app, "/_relay", "POST", OWN, root_path="/docs", body=body)).status

    for name in ("X-Thing-Key", "X-Trace", "X-Page", "x-page", "X-Configured", "X-Written", "Authorization"):
        assert await status(name) == 200, name
    for name in ("X-Cluster-Client-IP", "X-Not-A-Header", "X-In-Query", "X-Undeclared", "X_Page"):
        assert await status(name) == 400, name
