"""Provisioning: creates, updates, rotates and deletes user groups, and issues API tokens."""

from tenantry.provisioning.api_tokens import issue_api_token
from tenantry.provisioning.contract import PropertyContract
from tenantry.provisioning.deadline import Deadline
from tenantry.provisioning.limits import check_changes, check_draft
from tenantry.provisioning.provisioned import NOT_LOADED, NotLoaded, Provisioned
from tenantry.provisioning.provisioner import LONGEST_GRACE, Provisioner

__all__ = [
    "LONGEST_GRACE",
    "NOT_LOADED",
    "Deadline",
    "NotLoaded",
    "PropertyContract",
    "Provisioned",
    "Provisioner",
    "check_changes",
    "check_draft",
    "issue_api_token",
]
