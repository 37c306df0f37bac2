"""The key file on a real file system: private, never overwritten, changed in one step, no rotation lost."""

from __future__ import annotations

import os
import secrets
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from tenantry.errors import InvalidKeys, InvalidToken, SigningKeyMissing
from tenantry.groups import Tag
from tenantry.tokens import draft_token
from tenantry.tokens.keys import SigningKeys, create_key_file, list_keys, remove_key, rotate_key_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a key file may be made."""
    return tmp_path / "tenantry.keys"


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Sets the umask for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def written(path: Path) -> list[str]:
    """The secrets in the file."""
    return [line.split()[3] for line in path.read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_a_new_file_is_private_whatever_the_umask(path: Path, umask: Callable[[int], int], mask: int) -> None:
    """Mode 0600 from its first byte on. Red when it is opened with the usual mode."""
    umask(mask)
    made = create_key_file(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (made.id, made.active) == ("k1", True)
    assert abs(made.created_at - datetime.now(UTC)) < timedelta(minutes=1)
    assert SigningKeys.from_file(str(path)).active_id == "k1"


def test_a_file_is_never_overwritten(path: Path) -> None:
    """Nor is a link, even one that leads nowhere. Red when O_EXCL is left out."""
    create_key_file(path)
    before = path.read_bytes()
    with pytest.raises(InvalidKeys, match=r"exists and is not overwritten, .*`tenantry keys rotate`"):
        create_key_file(path)
    assert path.read_bytes() == before
    link = path.with_name("link.keys")
    link.symlink_to(path.with_name("nowhere"))
    with pytest.raises(InvalidKeys, match="not overwritten"):
        create_key_file(link)
    assert not link.exists()


def test_of_many_creators_one_wins(path: Path) -> None:
    """And the file holds the winner's key. Red when O_EXCL is left out."""

    def attempt(_: int) -> bool:
        try:
            create_key_file(path)
        except InvalidKeys:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(16))) == 1
    assert len(list_keys(path)) == 1


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o660, 0o777])
def test_a_file_that_others_may_use_is_refused(path: Path, mode: int) -> None:
    """Every bit of group and others counts, for reading and for rotating. Red when only one of them is looked at."""
    create_key_file(path)
    path.chmod(mode)
    for use in (SigningKeys.from_file, list_keys, rotate_key_file):
        with pytest.raises(InvalidKeys, match=rf"has mode 0{mode:o}.*run `chmod 600 {path}`"):
            use(path)
    path.chmod(0o600)
    assert len(list_keys(path)) == 1


def test_a_file_that_is_only_readable_is_read(path: Path) -> None:
    """Mode 0400, as a careful operator has it."""
    create_key_file(path)
    path.chmod(0o400)
    assert SigningKeys.from_file(path).ids == ("k1",)


def test_a_missing_file_says_how_to_make_one(path: Path) -> None:
    """Reading, rotating and listing alike."""
    for use in (SigningKeys.from_file, rotate_key_file, list_keys):
        with pytest.raises(InvalidKeys, match=r"no signing-key file .*: run `tenantry keys new`"):
            use(path)


def test_what_is_no_plain_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    """A folder, a pipe that nobody writes to, a path through a file, a folder that is not there.

    Red when the file is opened without O_NONBLOCK: the pipe then hangs.
    """
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    file = tmp_path / "file"
    file.touch(0o600)
    for path in (tmp_path, pipe, Path("/dev/null"), file / "tenantry.keys"):
        with pytest.raises(InvalidKeys, match="signing-key file"):
            SigningKeys.from_file(path)
    for path in (tmp_path, tmp_path / "none" / "tenantry.keys"):
        with pytest.raises(InvalidKeys):
            create_key_file(path)
    for path in (tmp_path, pipe, tmp_path / "none" / "tenantry.keys"):
        with pytest.raises(InvalidKeys):
            rotate_key_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no key is active"),
        (b"\n\n\xff\xfe\n", "line 3: contains non-ASCII bytes"),
        (b"k1 x\n", "line 1: 2 fields"),
        (b"#" * (1 << 20), "1 MiB or larger"),
    ],
)
def test_a_bad_file_is_named_with_its_line(path: Path, content: bytes, message: str) -> None:
    """The error says which file and which line, so that nobody has to search."""
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InvalidKeys, match=message) as caught:
        SigningKeys.from_file(path)
    assert str(path) in str(caught.value)


def test_after_a_rotation_old_tokens_live_and_new_ones_are_signed_by_the_new_key(path: Path) -> None:
    """Nothing dies by rotating; by removing the old key, its tokens do."""
    create_key_file(path)
    before = SigningKeys.from_file(path)
    old = before.mint(draft_token(Tag.CUSTOMER, before.active_id, secrets.token_bytes))
    added = rotate_key_file(path)
    assert (added.id, added.active) == ("k2", True)
    after = SigningKeys.from_file(path)
    assert isinstance(after, SigningKeys)
    assert after.active_id == "k2"
    assert after.mint(after.read(old)) == old
    new = after.mint(draft_token(Tag.CUSTOMER, after.active_id, secrets.token_bytes))
    assert new[5:7] == "k2"

    assert remove_key(path, "k1").id == "k1"
    removed = SigningKeys.from_file(path)
    assert removed.read(new)
    with pytest.raises(InvalidToken):
        removed.read(old)
    with pytest.raises(SigningKeyMissing):
        removed.mint(after.read(old))


def test_the_active_key_and_an_unknown_one_cannot_be_removed(path: Path) -> None:
    """And the file stays as it was. Red when the state is not looked at."""
    create_key_file(path)
    before = path.read_bytes()
    for key_id in ("k1", "k2", ""):
        with pytest.raises(InvalidKeys):
            remove_key(path, key_id)
    assert path.read_bytes() == before


def test_a_list_shows_ids_marks_and_dates_and_no_secret(path: Path) -> None:
    """The one view that may be printed."""
    create_key_file(path)
    rotate_key_file(path)
    keys = list_keys(path)
    assert [(key.id, key.active, key.created_at.tzinfo) for key in keys] == [("k1", False, UTC), ("k2", True, UTC)]
    for secret in written(path):
        assert secret not in repr(keys) + repr(SigningKeys.from_file(path))


def test_a_rotated_file_is_private_and_leaves_nothing_beside_it(path: Path, umask: Callable[[int], int]) -> None:
    """Mode 0600, no temporary file, no lock file."""
    umask(0)
    create_key_file(path)
    rotate_key_file(path)
    remove_key(path, "k1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_what_a_killed_rotation_left_goes_with_the_next_one(path: Path) -> None:
    """Killed between writing and renaming, a rotation leaves a file full of secrets. Red with a random name for it."""
    create_key_file(path)
    script = (
        "import os, signal, sys; from pathlib import Path; from tenantry.tokens.keys import rotate_key_file\n"
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "rotate_key_file(sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    left = [entry for entry in path.parent.iterdir() if entry != path]
    assert [stat.S_IMODE(entry.stat().st_mode) for entry in left] == [0o600]
    assert len(list_keys(path)) == 1
    rotate_key_file(path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert len(list_keys(path)) == 2


def test_a_rotation_keeps_a_link_and_changes_what_it_points_to(path: Path) -> None:
    """A deployment may link to a folder of secrets. Red when the link itself is replaced."""
    create_key_file(path)
    link = path.with_name("current.keys")
    link.symlink_to(path.name)
    rotate_key_file(link)
    assert link.is_symlink()
    assert len(list_keys(path)) == 2


def test_concurrent_rotations_lose_no_key(path: Path) -> None:
    """Four processes of five rotations and two of eight threads: 1 + 36 keys, one active. Red without the lock."""
    create_key_file(path)
    code = (
        "import sys; from tenantry.tokens.keys import rotate_key_file\nfor _ in range(5): rotate_key_file(sys.argv[1])"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: rotate_key_file(path), range(16)))
    assert [process.wait(120) for process in processes] == [0, 0, 0, 0]
    keys = list_keys(path)
    assert len({key.id for key in keys}) == len(keys) == len(set(written(path))) == 37
    assert [key.id for key in keys if key.active] == [keys[-1].id]


def test_readers_during_rotations_always_see_a_whole_file(path: Path) -> None:
    """The file is replaced and not overwritten. Red when it is opened and rewritten."""
    create_key_file(path)
    first = SigningKeys.from_file(path)
    token = first.mint(draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes))
    with ThreadPoolExecutor(1) as pool:
        reading = Event()
        rotating = pool.submit(lambda: reading.wait(120) and [rotate_key_file(path) for _ in range(25)])
        while not rotating.done():
            assert SigningKeys.from_file(path).read(token)
            reading.set()
        assert rotating.result()
    assert len(list_keys(path)) == 26


@pytest.mark.parametrize("failing", ["pathlib.Path.replace", "os.fsync", "os.fchmod"])
def test_a_failed_rotation_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """A full disk, say. Red when the temporary file is not taken away, or the error is no InvalidKeys."""
    create_key_file(path)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(failing, fail)
    with pytest.raises(InvalidKeys, match=r"cannot change the signing-key file .*No space left"):
        rotate_key_file(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_failed_creation_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a key file would block the next attempt."""

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(InvalidKeys, match=r"cannot create the signing-key file .*Input/output error"):
        create_key_file(path)
    assert list(path.parent.iterdir()) == []


def test_new_keys_are_on_the_disk_before_they_have_the_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First the contents, then the name, then the folder that holds the name. Red when one of the syncs is left out."""
    create_key_file(path)
    steps: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def spy_fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "contents")
        fsync(descriptor)

    def spy_replace(self: Path, target: Path) -> Path:
        steps.append("name")
        return replace(self, target)

    monkeypatch.setattr("os.fsync", spy_fsync)
    monkeypatch.setattr("pathlib.Path.replace", spy_replace)
    rotate_key_file(path)
    assert steps == ["contents", "name", "folder"]
    create_key_file(path.with_name("other.keys"))
    assert steps[3:] == ["contents", "folder"]
