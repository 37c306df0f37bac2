"""Creates, updates, rotates and deletes user groups, and issues API tokens."""

from tenantry.provisioning.api_tokens import issue_api_token
from tenantry.provisioning.deadline import Deadline
from tenantry.provisioning.limits import LONGEST_GRACE, check_changes, check_draft
from tenantry.provisioning.limits import check_text as check_text
from tenantry.provisioning.limits import pointer_of as pointer_of
from tenantry.provisioning.property_contract import PropertyContract
from tenantry.provisioning.provisioner import NOT_LOADED, NotLoaded, Provisioner
from tenantry.provisioning.rotations import MAX_ROTATED_TOGETHER as MAX_ROTATED_TOGETHER
from tenantry.provisioning.rotations import Rotated as Rotated
from tenantry.provisioning.rotations import RotationPage as RotationPage
from tenantry.provisioning.rotations import RotationProvisioner as RotationProvisioner
from tenantry.provisioning.rotations import check_signed_by as check_signed_by
from tenantry.provisioning.sources import CountedSource as CountedSource
from tenantry.provisioning.sources import SourceProvisioner as SourceProvisioner
from tenantry.provisioning.sources import SourceTest as SourceTest
from tenantry.provisioning.sources import describe_source as describe_source
from tenantry.provisioning.sources import in_use as in_use
from tenantry.provisioning.upserts import Outcome, Upsert, Upserted, UpsertProvisioner, UpsertResult

__all__ = [
    "LONGEST_GRACE",
    "NOT_LOADED",
    "Deadline",
    "NotLoaded",
    "Outcome",
    "PropertyContract",
    "Provisioner",
    "Upsert",
    "UpsertProvisioner",
    "UpsertResult",
    "Upserted",
    "check_changes",
    "check_draft",
    "issue_api_token",
]
