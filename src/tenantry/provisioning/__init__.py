"""Provisioning: user groups are created, updated, rotated and deleted here, for HTTP and the command line alike."""

from tenantry.provisioning.limits import check_changes, check_draft
from tenantry.provisioning.patience import Patience
from tenantry.provisioning.provisioner import Provisioned, Provisioner

__all__ = ["Patience", "Provisioned", "Provisioner", "check_changes", "check_draft"]
