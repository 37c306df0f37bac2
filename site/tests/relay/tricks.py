"""Addresses that have fooled fetchers: each would reach a canary if one defence of the relay were missing.

The relay of the tests may reach ``https://api.allowed.test``, ``http://api.allowed.test:{canary}`` and, as private,
``http://127.0.0.1:{allowed}``. Every name leads to this machine unless the trick says otherwise.
"""

from __future__ import annotations

from typing import NamedTuple


class Trick(NamedTuple):
    name: str
    address: str
    answers: tuple[tuple[str, ...], ...] = ()
    """What ``api.allowed.test`` resolves to, one answer after the other."""


OTHER_SPELLINGS = [
    Trick("loopback", "http://127.0.0.1:{canary}/"),
    Trick("short IPv4", "http://127.1:{canary}/"),
    Trick("shorter IPv4", "http://127.0.1:{canary}/"),
    Trick("zero", "http://0:{canary}/"),
    Trick("zeros", "http://0.0.0.0:{canary}/"),
    Trick("decimal", "http://2130706433:{canary}/"),
    Trick("hexadecimal", "http://0x7f000001:{canary}/"),
    Trick("hexadecimal parts", "http://0x7f.0x0.0x0.0x1:{canary}/"),
    Trick("short hexadecimal", "http://0x7f.1:{canary}/"),
    Trick("octal", "http://0177.0.0.1:{canary}/"),
    Trick("long octal", "http://017700000001:{canary}/"),
    Trick("leading zeros", "http://127.000.000.001:{canary}/"),
    Trick("overflowing parts", "http://383.0.0.1:{canary}/"),
    Trick("overflowing number", "http://4294967296:{canary}/"),
    Trick("last dot of an IPv4", "http://127.0.0.1.:{canary}/"),
    Trick("another loopback", "http://127.255.255.254:{canary}/"),
    Trick("IPv6 loopback", "http://[::1]:{canary6}/"),
    Trick("long IPv6 loopback", "http://[0:0:0:0:0:0:0:1]:{canary6}/"),
    Trick("IPv6 unspecified", "http://[::]:{canary6}/"),
    Trick("IPv4 mapped", "http://[::ffff:127.0.0.1]:{canary}/"),
    Trick("IPv4 mapped, hexadecimal", "http://[::ffff:7f00:1]:{canary}/"),
    Trick("IPv4 compatible", "http://[::127.0.0.1]:{canary}/"),
    Trick("IPv4 translated", "http://[::ffff:0:127.0.0.1]:{canary}/"),
    Trick("NAT64", "http://[64:ff9b::7f00:1]:{canary}/"),
    Trick("6to4", "http://[2002:7f00:1::]:{canary}/"),
    Trick("Teredo", "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:{canary}/"),
    Trick("ISATAP", "http://[2606:4700::5efe:127.0.0.1]:{canary}/"),
    Trick("IPv6 scope", "http://[fe80::1%25lo]:{canary6}/"),
    Trick("IPv6 scope, bare", "http://[::1%lo]:{canary6}/"),
    Trick("IPv6 of the future", "http://[v1.127.0.0.1]:{canary}/"),
    Trick("IPv6 without brackets", "http://::1:{canary6}/"),
    Trick("circled digits", "http://①②⑦.⓪.⓪.①:{canary}/"),
    Trick("fullwidth digits", "http://\uff11\uff12\uff17.0.0.1:{canary}/"),
    Trick("ideographic dots", "http://127。0。0。1:{canary}/"),
    Trick("percent in the host", "http://127%2e0%2e0%2e1:{canary}/"),
]

OTHER_NAMES = [
    Trick("localhost", "http://localhost:{canary}/"),
    Trick("localhost with a last dot", "http://localhost.:{canary}/"),
    Trick("below localhost", "http://api.allowed.test.localhost:{canary}/"),
    Trick("a public name that leads home", "http://localtest.example:{canary}/"),
    Trick("metadata, AWS", "http://169.254.169.254/latest/meta-data/"),
    Trick("metadata, AWS over IPv6", "http://[fd00:ec2::254]/latest/meta-data/"),
    Trick("metadata, Google", "http://metadata.google.internal/computeMetadata/v1/"),
    Trick("metadata, Alibaba", "http://100.100.100.200/latest/meta-data/"),
    Trick("metadata, a public address", "http://168.63.129.16/machine?comp=goalstate"),
    Trick("the allowed name as a prefix", "http://api.allowed.test.evil.example:{canary}/"),
    Trick("the allowed name as a suffix", "http://notapi.allowed.test:{canary}/"),
    Trick("the allowed name with a last dot", "http://api.allowed.test.:{canary}/"),
    Trick("the allowed name in Cyrillic", "http://\u0430pi.allowed.test:{canary}/"),
    Trick("the same in punycode", "http://xn--pi-7kc.allowed.test:{canary}/"),
    Trick("a sharp s", "http://api.allowed.teßt:{canary}/"),
    Trick("a soft hyphen", "http://api.allo\u00adwed.test:{canary}/"),
    Trick("a long label", "http://" + "a" * 64 + ".test:{canary}/"),
    Trick("a very long host", "http://" + "a." * 5000 + "test:{canary}/"),
    Trick("a long name", "http://" + "a." * 127 + "test:{canary}/"),
    Trick("an empty label", "http://api..allowed.test:{canary}/"),
    Trick("another port", "http://api.allowed.test:{allowed}/"),
    Trick("another scheme, the same host", "http://api.allowed.test/"),
]

CONFUSIONS = [
    Trick("user information", "http://api.allowed.test@127.0.0.1:{canary}/"),
    Trick("user information with a password", "http://api.allowed.test:80@127.0.0.1:{canary}/"),
    Trick("user information, encoded", "http://api.allowed.test%40127.0.0.1:{canary}/"),
    Trick("two signs", "http://a@api.allowed.test@127.0.0.1:{canary}/"),
    Trick("user information before the allowed", "http://127.0.0.1:{canary}@api.allowed.test:{canary}/"),
    Trick("a fragment before the sign", "http://api.allowed.test:{canary}#@127.0.0.1:{canary}/"),
    Trick("a fragment with a path", "http://127.0.0.1:{canary}#.api.allowed.test/"),
    Trick("a question mark before the sign", "http://127.0.0.1:{canary}?@api.allowed.test/"),
    Trick("a backslash", "http://api.allowed.test\\@127.0.0.1:{canary}/"),
    Trick("a backslash in the path", "http://api.allowed.test:{canary}\\.evil.example/"),
    Trick("backslashes for slashes", "http:\\\\127.0.0.1:{canary}\\"),
    Trick("one slash", "http:/127.0.0.1:{canary}/"),
    Trick("no slash", "http:127.0.0.1:{canary}/"),
    Trick("three slashes", "http:///127.0.0.1:{canary}/"),
    Trick("no scheme", "//127.0.0.1:{canary}/"),
    Trick("a tab in the scheme", "ht\ttp://127.0.0.1:{canary}/"),
    Trick("a newline in the host", "http://api.allowed.test\n@127.0.0.1:{canary}/"),
    Trick("a newline in the path", "http://api.allowed.test:{canary}/\r\nHost: 127.0.0.1"),
    Trick("a space before", " http://127.0.0.1:{canary}/"),
    Trick("a space in the host", "http://api.allowed.test 127.0.0.1:{canary}/"),
    Trick("a space in the path", "http://api.allowed.test:{canary}/ HTTP/1.1"),
    Trick("a NUL", "http://127.0.0.1:{canary}\0.api.allowed.test/"),
    Trick("a line separator", "http://api.allowed.test\u2028:{canary}/"),
    Trick("a fullwidth slash", "http://127.0.0.1:{canary}\uff0f.api.allowed.test/"),
    Trick("a fullwidth sign", "http://api.allowed.test\uff20127.0.0.1:{canary}/"),
    Trick("port zero", "http://api.allowed.test:0/"),
    Trick("an empty port", "http://127.0.0.1:/"),
    Trick("a port too large", "http://127.0.0.1:99999/"),
    Trick("a port that wraps", "http://api.allowed.test:65616/"),
    Trick("a signed port", "http://127.0.0.1:+{canary}/"),
    Trick("a port with zeros", "http://127.0.0.1:00{canary}/"),
    Trick("two ports", "http://127.0.0.1:{canary}:80/"),
    Trick("a semicolon", "http://api.allowed.test;127.0.0.1:{canary}/"),
    Trick("a comma", "http://api.allowed.test,127.0.0.1:{canary}/"),
    Trick("braces", "http://{127.0.0.1}:{canary}/"),
    Trick("gopher", "gopher://127.0.0.1:{canary}/_GET%20/"),
    Trick("file", "file:///etc/passwd"),
    Trick("dict", "dict://127.0.0.1:{canary}/stat"),
    Trick("ftp", "ftp://127.0.0.1:{canary}/"),
    Trick("unix socket", "http+unix://%2Fvar%2Frun%2Fdocker.sock/"),
    Trick("web socket", "ws://api.allowed.test:{canary}/"),
    Trick("data", "data:text/plain,hello"),
    Trick("javascript", "javascript:fetch('http://127.0.0.1:{canary}/')"),
    Trick("nothing", ""),
]

ALLOWED = "http://api.allowed.test:{canary}/"

ANSWERS = [
    Trick("leads to loopback", ALLOWED, (("127.0.0.1",),)),
    Trick("leads to IPv6 loopback", "http://api.allowed.test:{canary6}/", (("::1",),)),
    Trick("leads to the unspecified", ALLOWED, (("0.0.0.0",),)),
    Trick("leads to a mapped loopback", ALLOWED, (("::ffff:127.0.0.1",),)),
    Trick("leads to NAT64", ALLOWED, (("64:ff9b::7f00:1",),)),
    Trick("leads to metadata", ALLOWED, (("169.254.169.254",),)),
    Trick("leads to public metadata", ALLOWED, (("168.63.129.16",),)),
    Trick("leads to 10/8", ALLOWED, (("10.0.0.1",),)),
    Trick("leads to 172.16/12", ALLOWED, (("172.31.255.255",),)),
    Trick("leads to 192.168/16", ALLOWED, (("192.168.1.1",),)),
    Trick("leads to a carrier's network", ALLOWED, (("100.64.0.1",),)),
    Trick("leads to a test network", ALLOWED, (("198.18.0.1",),)),
    Trick("leads to documentation", ALLOWED, (("203.0.113.5",),)),
    Trick("leads to IPv6 documentation", ALLOWED, (("2001:db8::1",),)),
    Trick("leads to unique-local", ALLOWED, (("fd12:3456::1",),)),
    Trick("leads to link-local with a scope", ALLOWED, (("fe80::1%1",),)),
    Trick("leads to a scope of a public address", ALLOWED, (("2606:4700::1%1",),)),
    Trick("leads to multicast", ALLOWED, (("224.0.0.1",),)),
    Trick("leads to broadcast", ALLOWED, (("255.255.255.255",),)),
    Trick("leads to a reserved network", ALLOWED, (("240.0.0.1",),)),
    Trick("public first, loopback second", ALLOWED, (("93.184.215.14", "127.0.0.1"),)),
    Trick("loopback first, public second", ALLOWED, (("127.0.0.1", "93.184.215.14"),)),
    Trick("loopback after many", ALLOWED, ((*(f"93.184.215.{n}" for n in range(20)), "127.0.0.1"),)),
    Trick("not an address", ALLOWED, (("127.0.0.1 ",),)),
    Trick("no answer", ALLOWED, ((),)),
]

TRICKS = OTHER_SPELLINGS + OTHER_NAMES + CONFUSIONS + ANSWERS
