"""Provisioning: user groups are created, updated, rotated and deleted here, and API tokens issued."""

from tenantry.provisioning.api_token import issue_api_token
from tenantry.provisioning.limits import check_changes, check_draft
from tenantry.provisioning.patience import Patience
from tenantry.provisioning.provisioner import LONGEST_GRACE, UNREAD, Provisioned, Provisioner, Unread

__all__ = [
    "LONGEST_GRACE",
    "UNREAD",
    "Patience",
    "Provisioned",
    "Provisioner",
    "Unread",
    "check_changes",
    "check_draft",
    "issue_api_token",
]
