from tenantry.tokens.keys.key_file import (
    DEFAULT_PATH,
    KeyInfo,
    create_key_file,
    list_keys,
    remove_key,
    rotate_key_file,
)
from tenantry.tokens.keys.key_file import PUBLISHED as PUBLISHED
from tenantry.tokens.keys.key_file import KeyFile as KeyFile
from tenantry.tokens.keys.key_file import entropy_problem as entropy_problem
from tenantry.tokens.keys.key_file import new_key_file as new_key_file
from tenantry.tokens.keys.key_file import parse_keys as parse_keys
from tenantry.tokens.keys.signing_keys import SigningKeys

__all__ = [
    "DEFAULT_PATH",
    "KeyInfo",
    "SigningKeys",
    "create_key_file",
    "list_keys",
    "remove_key",
    "rotate_key_file",
]
