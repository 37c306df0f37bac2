"""Declared parameters, and the conversion of viewer input to typed values (docs/sql-parameters.md)."""

from tenantry.sql.parameters.declared import INSTANTS as INSTANTS
from tenantry.sql.parameters.declared import RANGE_ENDS as RANGE_ENDS
from tenantry.sql.parameters.declared import RANGES as RANGES
from tenantry.sql.parameters.declared import TEXTS as TEXTS
from tenantry.sql.parameters.declared import UTC_ZONE as UTC_ZONE
from tenantry.sql.parameters.declared import Bounds as Bounds
from tenantry.sql.parameters.declared import InvalidDefinition as InvalidDefinition
from tenantry.sql.parameters.declared import Parameter as Parameter
from tenantry.sql.parameters.declared import ParameterType as ParameterType
from tenantry.sql.parameters.declared import PropertyReference as PropertyReference
from tenantry.sql.parameters.declared import ZoneOfGroup as ZoneOfGroup
from tenantry.sql.parameters.declared import spell as spell
from tenantry.sql.parameters.definitions import declare as declare
from tenantry.sql.parameters.definitions import find_zone as find_zone
from tenantry.sql.parameters.relative_ranges import RELATIVE_FORMS as RELATIVE_FORMS
from tenantry.sql.parameters.relative_ranges import RelativeRange as RelativeRange
from tenantry.sql.parameters.relative_ranges import parse_relative as parse_relative
from tenantry.sql.parameters.requests import ParameterConversion as ParameterConversion
from tenantry.sql.parameters.requests import typed_value as typed_value
from tenantry.sql.parameters.requests import zone_of_group as zone_of_group
from tenantry.sql.parameters.typed_values import REFUSALS as REFUSALS
from tenantry.sql.parameters.typed_values import Moment as Moment
from tenantry.sql.parameters.typed_values import is_empty as is_empty
from tenantry.sql.parameters.typed_values import read_value as read_value
