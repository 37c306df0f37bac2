"""Defences of passes: scope, ends, revocation, suspension."""

from __future__ import annotations

from typing import Final

from benchmarks.acceptance.defences.defence import Defence

OF_PASSES: Final = (
    Defence(
        "a pass has one spelling: its signature is compared as it is written",
        "tokens/passes.py",
        "compare_digest(sign_once(token, message), raw[_SIGNATURE])",
        'urlsafe_b64decode(sign_once(token, message) + b"=") == urlsafe_b64decode(raw[_SIGNATURE] + b"=")',
        ("tests/tokens/test_passes.py",),
    ),
    Defence(
        "a pass with a claim that is not known is refused",
        "tokens/passes.py",
        "_require(name in _CLAIMS, str(name)",
        "_require(True, str(name)",
        ("tests/tokens/test_passes.py",),
    ),
    Defence(
        "a pass is valid for a day at most",
        "tokens/passes.py",
        "_require(0 < expires - issued <= MAX_SECONDS,",
        "_require(0 < expires - issued,",
        ("tests/tokens/test_passes.py",),
    ),
    Defence(
        "a pass ends at its exp, without the leeway that iat has",
        "tokens/passes.py",
        "    if viewer.expires_at <= now:\n",
        "    if (now - viewer.expires_at).total_seconds() >= MAX_AHEAD:\n",
        ("tests/tokens/test_passes.py",),
    ),
    Defence(
        "a cached pass ends with its token",
        "cache/group_cache.py",
        "        entry.deadline = -inf  # ends the passes of this token, however many there are\n",
        "",
        ("tests/resolver/test_passes.py",),
    ),
    Defence(
        "a cached pass ends at its exp",
        "resolver/resolver.py",
        "group, now + min(self.seconds_left(group), self._staleness), now)",
        "group, inf, now)",
        ("tests/resolver/test_passes.py",),
    ),
    Defence(
        "a pass opens only what its scope contains",
        "middleware/middleware.py",
        "        if group.viewer is not None and not group.viewer.may_open(self._audience):\n"
        "            return self._run_out_of_scope(group, scope, exchange.receive, exchange.send)\n",
        "",
        ("tests/middleware/test_passes.py", "tests/dashboards/test_kinds.py"),
    ),
    Defence(
        "a pass opens only the websockets in its scope",
        "middleware/middleware.py",
        "        if group.viewer is not None and not group.viewer.may_open(self._audience):\n"
        "            app = partial(self._run_out_of_scope, group)\n",
        "",
        ("tests/middleware/test_passes.py",),
    ),
    Defence(
        "a pass opens only what its scope contains in an app within an app",
        "middleware/middleware.py",
        "        if group.viewer is not None and not group.viewer.may_open(self._audience):\n"
        "            await self._run_out_of_scope(group, scope, receive, send)\n"
        "            return\n",
        "",
        ("tests/middleware/test_passes.py", "tests/dashboards/test_kinds.py"),
    ),
    Defence(
        "a cookie opens only the dashboards of its viewer",
        "dashboards/embedding/session_cookie.py",
        "            if group.viewer is None or name != _name_of(group):\n"
        "                raise InvalidToken(InvalidToken.MESSAGE)\n",
        "",
        ("tests/dashboards/embedding/test_mounted.py",),
    ),
    Defence(
        "a pass opens only the dashboards in its scope",
        "dashboards/access.py",
        "        if group.viewer is not None and not group.viewer.may_open(DASHBOARD, name):\n"
        "            return False\n",
        "",
        ("tests/dashboards/embedding/test_mounted.py",),
    ),
    Defence(
        "what one viewer has opened is not continued for another",
        "groups/user_group.py",
        "        if not self.has_viewer_of(other):\n            return False\n",
        "",
        ("tests/resolver/test_passes.py",),
    ),
    Defence(
        "variables are those of the viewer who asks",
        "datasources/bound_query.py",
        "    if _viewer_of(variables) != _viewer_of(own):",
        "    if False:",
        ("tests/datasources/test_viewer_variables.py",),
    ),
    Defence(
        "an open connection ends with its pass",
        "middleware/token_watch.py",
        "self._schedule(min(rest, ends))",
        "self._schedule(rest)",
        ("tests/middleware/test_end_dates.py",),
    ),
    Defence(
        "nothing is sent after the end of a pass",
        "middleware/token_watch.py",
        "self._valid_until = now + min(left, ends)",
        "self._valid_until = now + left",
        ("tests/middleware/test_end_dates.py",),
    ),
    Defence(
        "a running query and a file end with the pass",
        "datasources/query_watch.py",
        "        if own is not None and own.viewer is not None and own.ends_with_pass:",
        "        if False:",
        ("tests/dashboards/test_download_ends.py",),
    ),
    Defence(
        "a running query of a revoked viewer ends",
        "datasources/query_watch.py",
        "else found.with_viewer(query.group.viewer)",
        "else __import__('dataclasses').replace(found, revoked_viewers=None).with_viewer(query.group.viewer)",
        ("tests/dashboards/test_download_ends.py",),
    ),
    Defence(
        "the code of a pass gives no longer pass",
        "dashboards/embedding/routes.py",
        'claims["exp"] = min(claims["exp"], max(claims["iat"], moment) + seconds)',
        'claims["exp"] = max(claims["iat"], moment) + seconds',
        ("tests/dashboards/embedding/test_mounted.py",),
    ),
    Defence(
        "the code of a revoked viewer gives no pass",
        "dashboards/embedding/routes.py",
        "        issued.group.with_viewer(viewer_of(claims, issued.token.version))  # raises PassRevoked\n",
        "",
        ("tests/dashboards/embedding/test_mounted.py",),
    ),
    Defence(
        "the cookie of a direct visit has no token",
        "middleware/addresses.py",
        "    if is_like_a_pass(raw):\n        return raw\n",
        "    return raw\n",
        ("tests/dashboards/embedding/test_mounted.py",),
    ),
    Defence(
        "the earlier passes of a revoked viewer are refused",
        "groups/user_group.py",
        "if viewer.issued_at.timestamp() < self.revoked_before(viewer.id):",
        "if False:",
        ("tests/groups/test_revocations.py", "tests/resolver/test_passes.py"),
    ),
    Defence(
        "a suspended group is refused",
        "groups/user_group.py",
        "        if self.suspended:\n            return 0.0\n",
        "",
        ("tests/resolver/test_passes.py",),
    ),
    Defence(
        "a suspended group gets no token",
        "provisioning/provisioner.py",
        "    if issued.group.suspended:",
        "    if False:",
        ("tests/provisioning/http/test_suspended.py",),
    ),
)
