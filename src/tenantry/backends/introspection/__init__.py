"""The user groups of another Tenantry, read over HTTP (RFC 7662, extra ``http``): for apps without its database."""

from tenantry.backends.introspection.backend import IntrospectionBackend

__all__ = ["IntrospectionBackend"]
