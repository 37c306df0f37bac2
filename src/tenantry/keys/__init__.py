"""The signing-key file: made, read, rotated and listed here; whoever has it can forge half of what a token needs."""

from tenantry.keys.key_file import (
    DEFAULT_PATH,
    KeyInfo,
    SigningKeys,
    create_key_file,
    list_keys,
    remove_key,
    rotate_key_file,
)

__all__ = [
    "DEFAULT_PATH",
    "KeyInfo",
    "SigningKeys",
    "create_key_file",
    "list_keys",
    "remove_key",
    "rotate_key_file",
]
