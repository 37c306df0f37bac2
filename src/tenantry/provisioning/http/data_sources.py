from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field, StringConstraints, WithJsonSchema
from starlette.responses import Response

from tenantry.errors import (
    BadJson,
    BadRequest,
    DataSourceError,
    InvalidBody,
    InvalidSource,
    SecretUnavailable,
    SourceTestFailed,
)
from tenantry.groups import (
    ApiToken,
    Author,
    RegisteredSource,
    Scope,
    SourceDraft,
    SourceUpdate,
    check_session_variables,
)
from tenantry.provisioning import (
    CountedSource,
    Deadline,
    SourceProvisioner,
    SourceTest,
    describe_source,
)
from tenantry.provisioning.http.endpoint import ApiContext, Endpoint, digest_of, json_response, require_scope
from tenantry.provisioning.http.fields import NO_NUL, Text
from tenantry.provisioning.http.operations import ApiBody, parse_body
from tenantry.provisioning.http.request import ApiRequest, read_flag, read_number, read_text
from tenantry.provisioning.http.source_hosts import SourceHosts
from tenantry.provisioning.http.strict_json import decode_json
from tenantry.provisioning.limits import check_text

LARGEST_PAGE: Final = 500
DEFAULT_PAGE: Final = 100
MAX_URL: Final = 4096
MAX_SESSION: Final = 20

_TEST_SECONDS: Final = 5.0
_TESTS_AT_ONCE: Final = 4
_DRY_RUN: Final = ((b"dry-run", b"true"),)

Body = TypeVar("Body", bound=ApiBody)

NewName = Annotated[
    Text,
    Field(
        description="Your name for the data source. The mappings of user groups use this name.", examples=["warehouse"]
    ),
]
NameOrId = Annotated[Text, Field(description="The name or the id (`ds_…`) of the data source.", examples=["warehouse"])]
Address = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=MAX_URL, pattern=NO_NUL)],
    Field(
        description="The SQLAlchemy URL of a server that the service allows. A URL with a password is stored "
        "encrypted.",
        examples=["postgresql://reader@db.example.com:5432/shop"],
    ),
]
Password = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=MAX_URL, pattern=NO_NUL)] | None,
    Field(description="Replaces the password in the URL. The password is stored encrypted."),
]
Session = Annotated[
    dict[str, str] | None,
    WithJsonSchema({"anyOf": [{"$ref": "#/components/schemas/SessionVariables"}, {"type": "null"}]}),
    Field(
        max_length=MAX_SESSION,
        description="Session variables that PostgreSQL sets before each query, for row-level security.",
        examples=[{"app.tenant": "{{ user_group.id }}"}],
    ),
]
Tables = Annotated[
    dict[str, Any] | None,
    WithJsonSchema({"anyOf": [{"$ref": "#/components/schemas/GuardedTables"}, {"type": "null"}]}),
    Field(
        description="The declaration of guarded tables, as in `tables.yaml`.",
        examples=[{"tables": {"orders": "customer_id", "countries": "shared"}}],
    ),
]
Test = Annotated[
    bool,
    Field(
        description="Whether the service connects to the data source and checks the declaration of guarded tables "
        "before it stores the data source. If false, this happens at the first query."
    ),
]


class CreateSource(ApiBody):
    """Registers a data source."""

    name: NewName
    url: Address
    password: Password = None
    session: Session = None
    tables: Tables = None
    test: Test = True

    def draft(self) -> SourceDraft:
        check_text(self.name, "/name")
        session = check_session_variables(self.url, self.session or {})
        return SourceDraft(self.name, self.url, session=session, tables=self.tables)


class PatchSource(ApiBody):
    """Changes a data source. Fields that the body does not contain stay as they are. If `tables` is null, the
    declaration is removed. If `session` is null, the session variables are removed."""

    name: NameOrId
    new_name: NewName = ""
    url: Address = ""
    password: Password = None
    session: Session = None
    tables: Tables = None
    test: Test = True

    def changes(self) -> SourceUpdate:
        check_text(self.name, "/name")
        if self.new_name:
            check_text(self.new_name, "/new_name")
        given = self.model_fields_set
        tables = (self.tables or {}) if "tables" in given else None
        session = tuple((self.session or {}).items()) if "session" in given else None
        if not (self.new_name or self.url) and self.password is None and tables is None and session is None:
            raise InvalidBody("send at least one of new_name, url, password, session and tables", field="")
        return SourceUpdate(self.url or None, tables, self.new_name or None, session=session)


class DataSourcesEndpoint(Endpoint):
    """``/api/data-sources``, which needs the scope ``sources``. With ``?dry_run=true``, it tests data sources, but
    writes nothing."""

    def __init__(self, context: ApiContext, hosts: Iterable[str]) -> None:
        super().__init__("GET", "POST", "PATCH", "DELETE", observer=context.observer)
        self._context = context
        self._hosts = SourceHosts(hosts)
        self._tests = asyncio.Semaphore(_TESTS_AT_ONCE)

    async def respond(self, request: ApiRequest) -> Response:
        context = self._context
        # The deadline counts the time of store calls, not the time in which the body arrives or a source is tested.
        deadline = Deadline(context.store_seconds, lambda: context.store.settling)
        caller = await context.authenticate(digest_of(request.api_token()), deadline)  # 400, 401
        match request.method:
            case "GET":
                return await self._list(request, caller, deadline)
            case "DELETE":
                return await self._delete(request, caller, deadline)
            case "POST":
                return await self._create(request, caller, deadline)
        return await self._update(request, caller, deadline)

    async def _list(self, request: ApiRequest, caller: ApiToken, deadline: Deadline) -> Response:
        wanted = request.query("name", "after", "limit")  # 400
        request.set_operation("list_sources")
        limit = read_number(wanted, "limit", 1, LARGEST_PAGE, DEFAULT_PAGE)  # 400
        name, after = read_text(wanted, "name"), read_text(wanted, "after") or ""  # 400
        require_scope(caller, Scope.SOURCES)
        counted = await self._provisioner(request, caller, deadline).list(caller.environment)
        found = sorted((each for each in counted if each.source.provided_id > after), key=_name)
        if name is not None:
            found = [each for each in found if name in (each.source.id, each.source.provided_id)]
        following = _name(found[limit - 1]) if len(found) > limit else None
        return json_response({"success": 1, "data_sources": [*map(_document, found[:limit])], "next": following})

    async def _create(self, request: ApiRequest, caller: ApiToken, deadline: Deadline) -> Response:
        body, dry_run = await self._read(CreateSource, "create_source", request)
        draft = body.draft()  # 422
        self._hosts.check(body.url, body.password)  # 422
        require_scope(caller, Scope.SOURCES)
        test = self._connect if body.test else None
        provisioner = self._provisioner(request, caller, deadline, test, dry_run=dry_run)
        made = await provisioner.create(caller.environment, draft, password=body.password)
        return _answer(await provisioner.count(made), dry_run=dry_run)

    async def _update(self, request: ApiRequest, caller: ApiToken, deadline: Deadline) -> Response:
        body, dry_run = await self._read(PatchSource, "update_source", request)
        changes = body.changes()  # 422
        if body.url or body.password is not None:
            self._hosts.check(body.url, body.password)  # 422
        require_scope(caller, Scope.SOURCES)
        test = self._connect if body.test and changes.needs_test(body.password) else None
        provisioner = self._provisioner(request, caller, deadline, test, dry_run=dry_run)
        try:
            updated = await provisioner.update(caller.environment, body.name, changes, password=body.password)
        except SecretUnavailable as error:  # the stored URL cannot be decrypted
            problem = error.message
        else:
            return _answer(await provisioner.count(updated.source), dry_run=dry_run)
        raise SourceTestFailed(problem, field="/password")

    async def _delete(self, request: ApiRequest, caller: ApiToken, deadline: Deadline) -> Response:
        wanted = request.query("name", "force", "dry_run")  # 400
        request.set_operation("delete_source")
        force, dry_run = read_flag(wanted, "force"), read_flag(wanted, "dry_run")  # 400
        name = read_text(wanted, "name")  # 400
        if name is None:
            raise BadRequest("name the data source in the URL: DELETE /api/data-sources?name=warehouse")
        require_scope(caller, Scope.SOURCES)
        provisioner = self._provisioner(request, caller, deadline, dry_run=dry_run)
        return _answer(await provisioner.delete(caller.environment, name, force=force), dry_run=dry_run)

    async def _read(self, model: type[Body], operation: str, request: ApiRequest) -> tuple[Body, bool]:
        raw = await request.read_body(self._context.body_seconds)  # 400, 413, 408
        if raw or request.has_media_type:
            request.require_media_type("application/json")  # 415
        if not raw:
            raise BadJson('the body is empty: send a JSON object, such as {"name": "warehouse", "tables": null}')
        dry_run = request.dry_run()  # 400
        body = parse_body(model, decode_json(raw))  # 400, 422
        request.set_operation(operation)
        return body, dry_run

    def _provisioner(
        self,
        request: ApiRequest,
        caller: ApiToken,
        deadline: Deadline,
        test: SourceTest | None = None,
        *,
        dry_run: bool = False,
    ) -> SourceProvisioner:
        context, author = self._context, Author.of_request(caller, request.id)
        return SourceProvisioner(
            context.store, lambda: context.keys, test=test, deadline=deadline, author=author, dry_run=dry_run
        )

    async def _connect(self, source: RegisteredSource) -> None:
        from tenantry.datasources import check_connection  # slow to import

        try:
            async with self._tests:
                await check_connection(source, keys=self._context.keys, seconds=_TEST_SECONDS)
        except DataSourceError as error:
            problem = error.problem if isinstance(error, InvalidSource) else None
            message, field = problem or error.message, "/tables" if problem else "/url"
        else:
            return
        raise SourceTestFailed(
            f"{message}. Nothing was changed: fix this, or set `test` to false if only your apps can reach the "
            "data source",
            field=field,
        )


def _name(each: CountedSource) -> str:
    return each.source.provided_id


def _document(each: CountedSource) -> dict[str, Any]:
    described = describe_source(each.source)
    del described["guarded"]
    return {**described, "groups": each.groups, "tables": each.source.declaration or None}


def _answer(counted: CountedSource, *, dry_run: bool) -> Response:
    document = {"success": 1, "data_source": _document(counted)}
    return json_response(document, headers=_DRY_RUN if dry_run else ())
