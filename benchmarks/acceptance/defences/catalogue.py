"""The fixed list: a defence, the line that it stands in, that line without it, and the tests that must fail then.

A line is given as it stands in the source, and only once there: a test of the list fails when the source has moved on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Defence:
    """``file`` is below ``sources``; ``line`` is replaced by ``broken``; ``tests`` are arguments of pytest."""

    name: str
    file: str
    line: str
    broken: str
    tests: tuple[str, ...]
    sources: str = "src/tenantry"

    @property
    def path(self) -> str:
        """The file, from the root of the tree."""
        return f"{self.sources}/{self.file}"


DEFENCES: Final = (
    Defence(
        "a token's signature is compared",
        "tokens/key_ring.py",
        "if compare_digest(signature, raw[SIGNATURE]) and",
        "if",
        ("tests/tokens/test_key_ring.py", "tests/tokens/test_spelling.py"),
    ),
    Defence(
        "a token has one spelling: its checksum is compared",
        "tokens/key_ring.py",
        "if compare_digest(signature, raw[SIGNATURE]) and checksum(raw[CHECKED]) == raw[CHECKSUM]:",
        "if compare_digest(signature, raw[SIGNATURE]):",
        ("tests/tokens/test_key_ring.py", "tests/tokens/test_spelling.py"),
    ),
    Defence(
        "nothing cached is used without a lease",
        "cache/entries.py",
        "return now < lease.until and now < self.deadline and",
        "return now < self.deadline and",
        ("tests/cache/test_cache.py", "tests/cache/test_lease.py"),
    ),
    Defence(
        "a pass has one spelling: its signature is compared as it is written",
        "tokens/passes.py",
        "compare_digest(sign_once(token, message), raw[_SIGNATURE])",
        'urlsafe_b64decode(sign_once(token, message) + b"=") == urlsafe_b64decode(raw[_SIGNATURE] + b"=")',
        ("tests/tokens/test_passes.py",),
    ),
    Defence(
        "a pass with a claim that is not known is refused",
        "tokens/passes.py",
        "_require(name in _CLAIMS, str(name)",
        "_require(True, str(name)",
        ("tests/tokens/test_passes.py",),
    ),
    Defence(
        "a cached pass ends with its token",
        "cache/group_cache.py",
        "        entry.deadline = -inf  # ends the passes of this token, however many there are\n",
        "",
        ("tests/resolver/test_passes.py",),
    ),
    Defence(
        "a cached pass ends at its exp",
        "resolver/resolver.py",
        "group, now + min(self.seconds_left(group), self._staleness), now)",
        "group, inf, now)",
        ("tests/resolver/test_passes.py",),
    ),
    Defence(
        "a pass opens only what its scope contains",
        "middleware/middleware.py",
        "        if group.viewer is not None and not group.viewer.may_open(self._audience):\n"
        "            return self._run_out_of_scope(group, scope, exchange.receive, exchange.send)\n",
        "",
        ("tests/middleware/test_passes.py", "tests/dashboards/test_kinds.py"),
    ),
    Defence(
        "the earlier passes of a revoked viewer are refused",
        "groups/user_group.py",
        "if viewer.issued_at.timestamp() < self.revoked_before(viewer.id):",
        "if False:",
        ("tests/groups/test_revocations.py", "tests/resolver/test_passes.py"),
    ),
    Defence(
        "a suspended group is refused",
        "groups/user_group.py",
        "        if self.suspended:\n            raise UserGroupSuspended(UserGroupSuspended.MESSAGE)\n",
        "",
        ("tests/resolver/test_passes.py",),
    ),
    Defence(
        "a suspended group gets no token",
        "provisioning/provisioner.py",
        "    if issued.group.suspended:",
        "    if False:",
        ("tests/provisioning/http/test_suspended.py",),
    ),
    Defence(
        "a load that has begun is shared under a lease only",
        "cache/group_cache.py",
        "return pending.min_generation == NO_GENERATION and pending.is_valid(now)",
        "return pending.min_generation == NO_GENERATION and pending.lease.versions[pending.slot] == pending.version",
        ("tests/resolver/test_flights.py",),
    ),
    Defence(
        "a write on this host voids what its workers cached",
        "cache/entries.py",
        "now < self.deadline and lease.versions[self.slot] == self.version",
        "now < self.deadline",
        ("tests/cache/test_cache.py", "tests/cache/test_lease.py"),
    ),
    Defence(
        "an answer that a change has passed is not cached",
        "cache/group_cache.py",
        "            and generation >= pending.min_generation\n"
        "            and self._unchanged_since(pending.handle, generation)\n",
        "",
        ("tests/cache/test_cache.py", "tests/cache/test_lease.py"),
    ),
    Defence(
        "a cached token ends with the end date of its group",
        "resolver/end_dates.py",
        "entry.check_end_at = now + min(group.seconds_left(moment), self._staleness)",
        "entry.check_end_at = now + self._staleness",
        ("tests/resolver/test_end_dates.py",),
    ),
    Defence(
        "a write on this host voids the data sources that its workers cached",
        "resolver/source_cache.py",
        "entry is not None and entry.is_valid(self._clock())",
        "entry is not None and self._clock() < entry.lease.until",
        ("tests/datasources/test_registrations.py",),
    ),
    Defence(
        "no data source is used from memory without a lease",
        "resolver/source_cache.py",
        "entry is not None and entry.is_valid(self._clock())",
        "entry is not None and entry.lease.versions[entry.slot] == entry.version",
        ("tests/datasources/test_registrations.py",),
    ),
    Defence(
        "a poll that lists a write to a data source drops what is older",
        "cache/group_cache.py",
        "return self.sources.drop_older(generation, now)",
        "return False",
        ("tests/datasources/test_registrations.py",),
    ),
    Defence(
        "a write to a data source is announced in the slots of both its ids",
        "groups/user_group.py",
        "return source_handle(self.environment.id, self.id), source_handle(self.environment.id, self.provided_id)",
        "return source_handle(self.environment.id, self.id), source_handle(self.environment.id, self.id)",
        ("tests/datasources/test_registrations.py",),
    ),
    Defence(
        "two different tokens in one request are refused",
        "middleware/extraction.py",
        "        if len(set(found)) > 1:\n            raise AmbiguousToken(AmbiguousToken.MESSAGE)\n",
        "",
        ("tests/middleware/test_extraction.py",),
    ),
    Defence(
        "the token is gone from the headers that the app sees",
        "middleware/extraction.py",
        "rest.append(pair) if token is None else found.append(token)",
        "rest.append(pair) if token is None else (rest.append(pair), found.append(token))",
        ("tests/middleware/test_extraction.py",),
    ),
    Defence(
        "the middleware's key never comes from somebody else",
        "middleware/middleware.py",
        "        scope[SCOPE_KEY] = None\n        if self._required:",
        "        if self._required:",
        ("tests/middleware/test_outcomes.py",),
    ),
    Defence(
        "a custom carrier's token is held to the origin unless it says that no browser sends it",
        "middleware/carriers.py",
        "sent_by_browser: bool = True",
        "sent_by_browser: bool = False",
        ("tests/middleware/test_custom_carriers.py",),
    ),
    Defence(
        "a cookie from a foreign page opens no websocket and changes nothing",
        "middleware/origins.py",
        'if scope["type"] == "http" and scope["method"] in SAFE_METHODS:',
        "if True:",
        ("tests/middleware/test_origins.py",),
    ),
    Defence(
        "one rotation of several at once wins",
        "backends/sql/write_groups.py",
        "groups.c.team_id == _team_id, groups.c.revision == _new_revision - 1",
        "groups.c.team_id == _team_id",
        ("tests/backends/store/test_together.py",),
    ),
    Defence(
        "an Idempotency-Key answers one body",
        "backends/stored.py",
        "if not any(compare_digest(self.body_hash, given) for given in once.body_hashes):",
        "if False:",
        ("tests/backends/store/test_contract.py",),
    ),
    Defence(
        "no variable of the group is in a clause that a viewer can drop",
        "sql/tenant_guard.py",
        "guarded = list(_guarded(clause.children, guard))",
        "guarded = []",
        ("tests/sql/test_tenant_guard.py",),
    ),
    Defence(
        "no variable of the group is in SQL that a viewer chooses",
        "sql/tenant_guard.py",
        "reference = next(_guarded(chain.from_iterable(switch.branches), guard), None)",
        "reference = None",
        ("tests/sql/test_tenant_guard.py", "tests/sql/test_tenant_guard_property.py"),
    ),
    Defence(
        "no value is in a function that runs a string as SQL",
        "sql/parsing/dynamic_sql.py",
        "    if call is None:\n        return\n",
        "    return\n",
        ("tests/sql/test_dynamic_sql.py",),
    ),
    Defence(
        "a data source of SQLite is read only",
        "datasources/engines/sqlite.py",
        "        connection.set_authorizer(authorise)\n",
        "",
        ("tests/datasources/test_sqlite.py",),
    ),
    Defence(
        "a data source is of the group's own environment",
        "datasources/source_lookup.py",
        "if is_same and reference in (source.id, source.provided_id):",
        "if True:",
        ("tests/datasources/test_routing.py",),
    ),
    Defence(
        "variables are those of the group whose source is asked",
        "datasources/sources.py",
        "        check_owner(group, variables)\n        compiled = ",
        "        compiled = ",
        ("tests/datasources/test_routing.py",),
    ),
    Defence(
        "a query does not set the session variables by which policies choose its rows",
        "datasources/engines/postgresql.py",
        "escape = None if session is None else session_escape_error(self.source_id, untagged(bound))",
        "escape = None",
        ("tests/datasources/test_session_variables.py",),
    ),
    Defence(
        "a cached result that policies chose is one group's",
        "sql/binding/bound_sql.py",
        "owner = group if self.reads_group or session is not None else None",
        "owner = group if self.reads_group else None",
        ("tests/sql/test_fingerprint.py",),
    ),
    Defence(
        "a value is escaped in HTML",
        "html/sandbox.py",
        "autoescape=True",
        "autoescape=False",
        ("tests/html/test_template.py",),
    ),
    Defence(
        "a record of the group has items and no attributes",
        "html/sandbox.py",
        "self._item(obj, attribute) if isinstance(obj, Record | RecordList) else super().getattr(obj, attribute)",
        "super().getattr(obj, attribute)",
        (
            "tests/html/test_sandbox.py",
            "tests/html/test_template.py",
        ),
    ),
    Defence(
        "rows are counted in bytes while they are read",
        "datasources/pool/query_limits.py",
        "raise too_many_bytes_error(source_id, limits.max_bytes)",
        "pass",
        ("tests/datasources/test_bytes.py",),
    ),
    Defence(
        "the head of a request has a deadline",
        "server/connections/connection.py",
        "elif self.state is _HEAD and now - self.since > limits.header_seconds:",
        "elif False:",
        ("tests/server/connections/test_slow.py",),
    ),
    Defence(
        "the relay checks each address before it connects",
        "relay/dial.py",
        "kind = address_problem(ip, private=private)",
        "kind = None",
        ("site/tests/relay/test_tricks.py",),
        "site/src/tenantry_site",
    ),
    Defence(
        "no answer of /api/user is cached on its way",
        "provisioning/http/endpoint.py",
        '    (b"cache-control", b"no-store"),\n',
        "",
        ("tests/provisioning/http/test_table.py",),
    ),
    Defence(
        "the URL of a data source that comes over HTTP names a host that the service allows",
        "provisioning/http/source_hosts.py",
        "if not any(_matches(name, host) and port in (None, parsed.port) for name, port in self._allowed):",
        "if False:",
        ("tests/provisioning/http/test_source_hosts.py",),
    ),
    Defence(
        "the URL of a data source that comes over HTTP has no options that lead to other hosts and files",
        "provisioning/http/source_hosts.py",
        "if parsed.query.keys() - _OPTIONS:",
        "if False:",
        ("tests/provisioning/http/test_source_hosts.py",),
    ),
    Defence(
        "an object with the same name twice is refused",
        "provisioning/http/strict_json.py",
        "if len(values) != len(pairs):",
        "if False:",
        ("tests/provisioning/http/test_hostile.py",),
    ),
    Defence(
        "a key file that others may read is refused",
        "tokens/keys/private_file.py",
        "if status.st_mode & (_OTHERS & ~_read_by_its_group(status)):",
        "if False:",
        ("tests/tokens/keys/test_key_file.py",),
    ),
)
