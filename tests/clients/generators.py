"""The four generators: how each makes a client of the OpenAPI document, how strictly it is compiled, how it is run.

Those of TypeScript stand in ``node_modules`` beside package.json, installed by npm at the first use; those of Python
are installed with the extras ``test`` and ``clients``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from engines.npm import PackagesMissing, install_packages
from tests.clients.service import Running

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
MODULES = HERE / "node_modules"
BIN = Path(sys.executable).parent
SECONDS = 600.0


class GeneratorMissing(Exception):
    """The generator cannot be had on this machine; the message says what is missing."""


class Broken(Exception):
    """A command failed. The message is what it printed."""


@dataclass(frozen=True)
class Generator:
    """``generate`` and ``compile`` are commands that are run in the folder of the client; ``{document}`` is the OpenAPI
    document, ``{bin}`` where the Python of the tests keeps its programs."""

    name: str
    program: str
    generate: tuple[str, ...]
    compiles: tuple[str, ...]
    run: tuple[str, ...]
    needs: str
    """The Python module of the generator, or the folder of its npm package."""

    def install(self) -> None:
        """Makes sure that it is there. Raises GeneratorMissing."""
        if self.program.endswith(".ts"):
            try:
                install_packages(HERE)
            except PackagesMissing as error:
                raise GeneratorMissing(str(error)) from None
        elif find_spec(self.needs) is None:
            raise GeneratorMissing(f"{self.name} is not installed: pip install 'tenantry[clients]'")

    def make(self, document: Path, folder: Path) -> None:
        """The client, and the program beside it. Raises Broken."""
        folder.mkdir()
        shutil.copy(PROGRAMS / self.program, folder / self.program)
        self._run(self.generate, folder, document)

    def check(self, folder: Path, document: Path) -> None:
        """Compiles both strictly. Raises Broken."""
        if self.program.endswith(".ts"):
            (folder / "node_modules").symlink_to(MODULES)
            (folder / "tsconfig.json").write_text(json.dumps(TSCONFIG), "utf-8")
        self._run(self.compiles, folder, document)

    def call(self, folder: Path, service: Running, document: Path) -> dict[str, str]:
        """What each step of the program came to. Raises Broken."""
        named = {**service.environment(), "GROUP_ID": self.needs}  # one service may serve the programs of several
        output = self._run(self.run, folder, document, named)
        steps: dict[str, str] = json.loads(output.splitlines()[-1])
        return steps

    def _run(
        self, command: tuple[str, ...], folder: Path, document: Path, more: Mapping[str, str] | None = None
    ) -> str:
        words = [word.format(document=document, bin=BIN, modules=MODULES, here=HERE) for word in command]
        environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "NO_COLOR": "1", **(more or {})}
        done = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        if done.returncode != 0:
            raise Broken(f"{self.name}: {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done.stdout


TSCONFIG = {
    "compilerOptions": {
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "exactOptionalPropertyTypes": False,
        "target": "es2022",
        "lib": ["es2022", "dom", "dom.iterable"],
        "module": "commonjs",
        "moduleResolution": "node10",
        "esModuleInterop": True,
        "skipLibCheck": True,
        "types": [],
        "outDir": "out",
    },
    "include": ["*.ts"],
}

_MYPY = (
    "{bin}/mypy", "--strict", "--no-error-summary", "--cache-dir", ".mypy_cache", "--config-file", "{here}/mypy.ini"
)  # fmt: skip
_TSC = ("node", "{modules}/typescript/bin/tsc", "--project", "tsconfig.json")

OPENAPI_PYTHON_CLIENT = Generator(
    "openapi-python-client",
    "openapi_python_client.py",
    (
        "{bin}/openapi-python-client", "generate", "--path", "{document}", "--meta", "none",
        "--output-path", "openapi_python_client_made", "--fail-on-warning",
        "--config", "{here}/openapi_python_client.yaml",
    ),
    # Its own client.py, which is the same for every document, is not strict; what it makes of ours is.
    (*_MYPY, "--follow-imports=silent", "openapi_python_client.py", "openapi_python_client_made/models",
     "openapi_python_client_made/api"),
    (sys.executable, "openapi_python_client.py"),
    "openapi_python_client",
)  # fmt: skip
OPENAPI_GENERATOR = Generator(
    "openapi-generator (python)",
    "openapi_generator.py",
    (
        "{bin}/openapi-generator-cli", "generate", "-g", "python", "-i", "{document}", "-o", ".",
        "--package-name", "openapi_generator_made", "--global-property", "apiTests=false,modelTests=false",
    ),
    # What it writes is not annotated everywhere: the program is checked strictly against what is.
    (*_MYPY, "--follow-imports=silent", "--allow-untyped-calls", "--implicit-reexport", "openapi_generator.py"),
    (sys.executable, "openapi_generator.py"),
    "openapi_generator_cli",
)  # fmt: skip
OPENAPI_FETCH = Generator(
    "openapi-typescript, openapi-fetch",
    "openapi_fetch.ts",
    ("node", "{modules}/openapi-typescript/bin/cli.js", "{document}", "--output", "made.d.ts"),
    _TSC,
    ("node", "out/openapi_fetch.js"),
    "openapi-typescript",
)
HEY_API = Generator(
    "@hey-api/openapi-ts",
    "hey_api.ts",
    ("node", "{modules}/@hey-api/openapi-ts/bin/run.js", "--input", "{document}", "--output", "made"),
    _TSC,
    ("node", "out/hey_api.js"),
    "@hey-api/openapi-ts",
)

SHORT = (OPENAPI_PYTHON_CLIENT, OPENAPI_FETCH)
"""Those of `make test`: one of each language, the two that start fastest."""

ALL = (OPENAPI_PYTHON_CLIENT, OPENAPI_GENERATOR, HEY_API, OPENAPI_FETCH)
