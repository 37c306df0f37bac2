from tenantry.sql.header.yaml_reader import YamlNode as YamlNode
from tenantry.sql.header.yaml_reader import read_yaml as read_yaml
