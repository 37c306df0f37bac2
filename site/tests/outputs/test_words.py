"""What a reader may search for, out of any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry_site.outputs.search_page import MAX_WORD_LENGTH, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A group's name.", ["a", "group", "s", "name"]),
        ("Café, ÉCOLE, naïve", ["cafe", "ecole", "naive"]),
        ("STRAßE Straße", ["straße", "straße"]),
        ("İstanbul", ["istanbul"]),
        ("USER_GROUP_TOKEN", ["user", "group", "token", "usergrouptoken"]),
        ("userGroupToken", ["user", "group", "token", "usergrouptoken"]),
        ("`/api/user`", ["api", "user"]),
        ("x-api-key: 1", ["x", "api", "key", "xapikey", "1"]),
        ("multi-tenant, Multi\u2011Tenant", ["multi", "tenant", "multitenant"] * 2),
        ("a - b -c", ["a", "b", "c"]),
        ("v1.2.3", ["v1", "2", "3"]),
        ("client.createGroup()", ["client", "create", "group", "creategroup"]),
        ("https://docs.example.com/a/b", ["https", "docs", "example", "com", "a", "b"]),
        ("検索エンジン", ["検索", "索エ", "エン", "ンジ", "ジン"]),
        ("が", ["が"]),
        ("用户组 id", ["用户", "户组", "id"]),
        ("한국어", ["한국", "국어"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ﬁle \uff21\uff22\uff23", ["file", "abc"]),
        ("مُحَمَّد", ["محمد"]),
        ("", []),
        ("— … !", []),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    """Red when accents are kept, humps are not cut, or scripts without spaces are one long word."""
    assert words(text) == found


def test_the_spellings_of_one_word_meet() -> None:
    """Red when the whole of a name depends on how its parts are joined."""
    wholes = {words(text)[-1] for text in ("USER_GROUP_TOKEN", "userGroupToken", "user_groupToken", "UserGroupToken")}
    assert wholes == {"usergrouptoken"}


@given(st.text())
def test_any_text_gives_words(text: str) -> None:
    """Each is a run without blanks, folded: the words of a word are the word."""
    for word in words(text):
        assert 0 < len(word) <= MAX_WORD_LENGTH
        assert not any(letter.isspace() for letter in word)
        assert word in words(word)
