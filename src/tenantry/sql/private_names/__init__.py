"""Names with which SQL reads secrets of a database server, such as its processes, users, settings and files."""

from tenantry.sql.private_names.search import PrivateName as PrivateName
from tenantry.sql.private_names.search import find_private_name as find_private_name
from tenantry.sql.private_names.tables import SYSTEM_DATABASES as SYSTEM_DATABASES
