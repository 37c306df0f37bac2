from __future__ import annotations

import re


def read_contact(contact: str) -> dict[str, str]:
    """Return the Contact Object for an OpenAPI document. Raises ValueError if ``contact`` is neither a web nor an
    email address."""
    if re.fullmatch(r"https?://[^\s/]\S*", contact):
        return {"url": contact}
    if re.fullmatch(r"[^\s@]+@[^\s@]+", contact):
        return {"email": contact}
    raise ValueError("contact must be a web address (https://…) or an email address (name@example.com)")
