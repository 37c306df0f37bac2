"""Reads each setting from its command-line option, else from its ``TENANTRY_…`` environment variable, else from the
TOML file ``TENANTRY_CONFIG`` or ``tenantry.toml``."""

from __future__ import annotations

import os
import tomllib
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from tenantry.errors import InvalidSettings

CONFIG_VARIABLE = "TENANTRY_CONFIG"
DEFAULT_CONFIG = Path("tenantry.toml")
CONTACT = r"^(https?://[^\s/]\S*|[^\s@]+@[^\s@]+)$"


class Settings(BaseSettings):
    """The settings of ``tenantry``, made by ``load_settings``, which raises readable errors."""

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix="TENANTRY_", extra="forbid", frozen=True, hide_input_in_errors=True
    )

    database: str = Field(
        "sqlite:///tenantry.db", repr=False, description="URL of the store: sqlite:///file or postgresql://…"
    )
    keys: Path = Field(Path("tenantry.keys"), description="the signing-key file from `tenantry keys new`")
    host: str = Field("127.0.0.1", description="the address that `serve` listens on")
    port: int = Field(8000, ge=0, le=65535, description="the port that `serve` listens on; 0 takes a free one")
    environment: str | None = Field(None, description="the environment that a command uses; required if several exist")
    run_dir: Path | None = Field(None, description="the run folder, shared by all processes of a host")
    run_group: str | None = Field(None, min_length=1, description="the group of users who share the run folder")
    redis: str | None = Field(None, repr=False, description="URL of a Valkey or Redis that is notified of each write")
    listen_database: str | None = Field(
        None,
        repr=False,
        description="URL of the store's PostgreSQL without a pooler, where `serve` checks that notifications arrive",
    )
    log_format: Literal["text", "json"] = Field("text", description="how `serve` writes its log on stderr")
    metrics: bool = Field(False, description="whether `serve` answers /metrics (Prometheus) to any client")
    api_contact: str | None = Field(
        None, pattern=CONTACT, description="contact in the OpenAPI documents: https://… or an e-mail address"
    )
    api_source_hosts: str | None = Field(
        None, description="comma-separated hosts that data sources registered over HTTP may have; *: any"
    )
    workers: int = Field(1, ge=1, le=256, description="number of processes of `serve`")
    drain_seconds: int = Field(
        1, ge=0, le=300, description="seconds for which `serve` accepts requests after SIGTERM, with /readyz at 503"
    )

    queries: Path | None = Field(None, description="the folder of saved queries and property schemas")
    query_contract: Literal["off", "report", "refuse"] = Field(
        "off", description="how `serve` treats an update of properties that breaks a saved query"
    )
    header_seconds: int = Field(
        10, ge=1, le=300, description="seconds in which a client must send the head of a request"
    )
    min_rate: int = Field(
        500,
        ge=0,
        description="minimum bytes per second at which a client sends a body and reads a response; 0: no minimum",
    )
    max_connections: int | None = Field(None, ge=1, description="maximum connections of one process")
    max_connections_per_address: int | None = Field(
        None, ge=0, description="maximum connections of one client address; 0: no limit"
    )
    proxy_address: str | None = Field(
        None, description="comma-separated addresses and networks of proxies, exempt from the limit per address"
    )

    @field_validator("proxy_address")
    @classmethod
    def _check_proxies(cls, value: str | None) -> str | None:
        _networks(value)
        return value

    @field_validator("api_source_hosts")
    @classmethod
    def _check_hosts(cls, value: str | None) -> str | None:
        if value is not None:
            from tenantry.provisioning.http import SourceHosts  # slow to import

            SourceHosts(_parts(value))
        return value

    @property
    def source_hosts(self) -> tuple[str, ...]:
        return _parts(self.api_source_hosts)

    @property
    def proxies(self) -> tuple[IPv4Network | IPv6Network, ...]:
        return _networks(self.proxy_address)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=_config_file())


def load_settings(**given: Any) -> Settings:
    """Read the settings. Values in ``given`` take precedence, unless they are None. Raises InvalidSettings if a
    setting is invalid."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        problems = "; ".join(_explain(problem) for problem in error.errors(include_input=False, include_url=False))
        raise InvalidSettings(problems) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{_config_file()} is not TOML: {error}") from None
    except OSError as error:
        raise InvalidSettings(f"{error.filename} cannot be read: {error.strerror}") from None


def _networks(text: str | None) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(part, strict=False) for part in _parts(text))


def _parts(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _config_file() -> Path | None:
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise InvalidSettings(f"{CONFIG_VARIABLE} names {named}, which is not a file")
        return Path(named)
    return DEFAULT_CONFIG if DEFAULT_CONFIG.is_file() else None


def _explain(problem: Any) -> str:
    name = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"unknown setting {name!r}; the settings are {', '.join(Settings.model_fields)}"
    option = name.replace("_", "-")
    return f"{name}: {problem['msg']} (option --{option}, variable TENANTRY_{name.upper()}, or {name} in the file)"
