from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from tenantry.backends.audit.details import environment_details, hosts_details
from tenantry.backends.memory.tables import MemoryTables
from tenantry.errors import AlreadyExists
from tenantry.groups import UNNAMED, Author, Environment, Tag
from tenantry.ports import EnvironmentStore, TokenCount


class MemoryEnvironments(EnvironmentStore):
    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def create(
        self,
        name: str,
        tag: Tag,
        *,
        external_data_sources: bool = False,
        grace_seconds: int = 0,
        author: Author = UNNAMED,
    ) -> Environment:
        tables = self._tables
        with tables.lock:
            if name in tables.environments:
                raise AlreadyExists(f"the environment {name!r} already exists: choose another name")
            number = len(tables.environments) + 1
            environment = Environment(number, name, Tag(tag), external_data_sources, grace_seconds)
            tables.environments[name] = environment
            tables.note(author, "environment.created", name, name, **environment_details(environment))
            return environment

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        tables = self._tables
        with tables.lock:
            own = tables.own(environment)
            if own.grace_seconds == grace_seconds:
                return own
            changed = replace(own, grace_seconds=grace_seconds)
            tables.environments[own.name] = changed
            # Groups, API tokens and sources hold copies of their environment, so replace all copies.
            for handle, stored in tables.handles.items():
                if stored.group.environment.id == own.id:
                    tables.handles[handle] = replace(stored, group=replace(stored.group, environment=changed))
            for digest, token in tables.api_tokens.items():
                if token.environment.id == own.id:
                    tables.api_tokens[digest] = replace(token, environment=changed)
            for key, source in tables.sources.items():
                if source.environment.id == own.id:
                    tables.sources[key] = replace(source, environment=changed)
            tables.note(author, "environment.grace_set", own.name, own.name, grace_seconds=str(grace_seconds))
            return changed

    async def get(self, name: str) -> Environment | None:
        return self._tables.environments.get(name)

    async def list(self) -> Sequence[Environment]:
        return [*self._tables.environments.values()]

    async def set_embedding_hosts(
        self, environment: Environment, hosts: Sequence[str], *, author: Author = UNNAMED
    ) -> tuple[str, ...]:
        tables = self._tables
        with tables.lock:
            own = tables.own(environment)
            tables.embedding_hosts[own.name] = tuple(hosts)
            tables.note(author, "environment.embedding_set", own.name, own.name, **hosts_details(hosts))
            return tuple(hosts)

    async def embedding_hosts(self) -> Mapping[str, tuple[str, ...]]:
        with self._tables.lock:
            return {name: hosts for name, hosts in self._tables.embedding_hosts.items() if hosts}

    async def count_tokens(self) -> Mapping[str, TokenCount]:
        with self._tables.lock:
            now, stored = self._tables.clock(), [*self._tables.handles.values()]
        live = Counter(each.token.key_id for each in stored)
        ends = defaultdict[str, list[datetime]](list)
        for each in stored:
            previous, until = each.previous, each.group.grace_until
            if previous is not None and until is not None and until > now and previous.key_id != each.token.key_id:
                ends[previous.key_id].append(until)
        return {key: TokenCount(live[key], len(ends[key]), max(ends[key], default=None)) for key in {*live, *ends}}
