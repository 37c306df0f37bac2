from __future__ import annotations

from weakref import ReferenceType, ref

from tenantry.ports import SourceLease, SourceLeaseHolder


class OfferedSourceLease(SourceLeaseHolder):
    """A ``ports.SourceLeaseHolder``, with a weak reference: a store does not keep a resolver alive."""

    _lease: ReferenceType[SourceLease] | None = None

    @property
    def lease(self) -> SourceLease | None:
        return None if self._lease is None else self._lease()

    def offer_lease(self, lease: SourceLease | None) -> None:
        self._lease = None if lease is None else ref(lease)
