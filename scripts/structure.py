"""Measures how the code is divided: modules, functions, imports. ``make structure`` prints the figures and their aims.

    python -m scripts.structure             every figure of every distribution
    python -m scripts.structure --list      also the places that miss an aim

Imports inside functions count. Imports under ``TYPE_CHECKING`` count only as arrows between rooms.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final, TypeAlias

from scripts.distributions import DISTRIBUTIONS, ROOT, package

CORE: Final = ROOT / "src" / "tenantry"

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_BROAD: Final = {"Exception", "BaseException"}


@dataclass(frozen=True)
class Module:
    """One module. ``name`` is its dotted name."""

    name: str
    path: Path
    tree: ast.Module
    lines: int

    @property
    def is_package(self) -> bool:
        """Whether it is an ``__init__.py``."""
        return self.path.stem == "__init__"

    @cached_property
    def functions(self) -> list[Function]:
        """All functions and methods, also nested ones."""
        return [node for node in ast.walk(self.tree) if isinstance(node, _FUNCTIONS)]

    @cached_property
    def classes(self) -> list[ast.ClassDef]:
        """All classes, also nested ones."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]


class Package:
    """All modules below a folder."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.modules: dict[str, Module] = {}
        for path in sorted(folder.rglob("*.py")):
            name = ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
            text = path.read_text(encoding="utf-8")
            self.modules[name] = Module(name, path, ast.parse(text), text.count("\n"))

    @cached_property
    def imports(self) -> Mapping[str, set[str]]:
        """Module -> the modules of the package that it imports."""
        return {
            name: {source for source, _ in self._imported(module)} - {name} for name, module in self.modules.items()
        }

    def _imported(self, module: Module) -> Iterator[tuple[str, str]]:
        """Yield (imported module, imported name) of each import; the name is empty where a module is imported."""
        for node in _run_nodes(module.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names if alias.name in self.modules)
            elif isinstance(node, ast.ImportFrom) and node.module in self.modules:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield (inner, "") if inner in self.modules else (str(node.module), alias.name)

    @cached_property
    def _exports(self) -> Mapping[tuple[str, str], str]:
        """(package, name that it exports) -> the module from which the package imports the name."""
        return {
            (module.name, name): str(node.module)
            for module in self.modules.values()
            if module.is_package
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and node.module in self.modules
            for alias in node.names
            for name in (
                [each.name for each in self.modules[node.module].classes] if alias.name == "*" else [alias.name]
            )
        }

    def _used(self, module: Module) -> Iterator[str]:
        """Yield the modules that define the names that ``module`` imports, even if a package exports them."""
        yield from (self._defining(source, name) for source, name in self._imported(module))

    def cycles(self) -> list[list[str]]:
        """Return groups of modules that import each other, directly or through others."""
        return [sorted(group) for group in _strongly_connected(self.imports) if len(group) > 1]

    def imported_once(self) -> list[str]:
        """Return the modules whose names exactly one other module uses. A package that only exports them is not
        counted."""
        importers = [module for module in self.modules.values() if not module.is_package or module.functions]
        users = Counter(name for module in importers for name in {*self._used(module)} - {module.name})
        return sorted(name for name, count in users.items() if count == 1)

    def rooms(self) -> list[str]:
        """Return the packages and modules of the first level."""
        return sorted({name.split(".")[1] for name in self.modules if "." in name})

    def arrows(self) -> list[str]:
        """Return ``a -> b`` for each room a and each room b that it imports, also under ``TYPE_CHECKING``."""
        return sorted(
            {
                f"{module.name.split('.')[1]} -> {node.module.split('.')[1]}"
                for module in self.modules.values()
                for node in ast.walk(module.tree)
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{self.name}.")
                if "." in module.name and module.name.split(".")[1] != node.module.split(".")[1]
            }
        )

    def docstring_words(self) -> int:
        """Count the words in the docstrings of modules, classes and functions."""
        return sum(
            len((ast.get_docstring(node) or "").split())
            for module in self.modules.values()
            for node in (module.tree, *module.classes, *module.functions)
        )

    def used_once(self) -> list[str]:
        """Return the private functions and methods that their module uses exactly once."""
        found = []
        for module in self.modules.values():
            uses = Counter(_names(module.tree))
            found += [
                f"{module.name}:{each.name}"
                for each in module.functions
                if each.name.startswith("_") and not each.name.endswith("__") and uses[each.name] == 1
            ]
        return found

    def long_functions(self) -> list[int]:
        """Return the number of lines of every function, sorted."""
        return sorted(
            (each.end_lineno or 0) - each.lineno + 1 for module in self.modules.values() for each in module.functions
        )

    def repeated_classes(self) -> dict[str, list[str]]:
        """Return the class names that more than one module defines, with these modules."""
        made = defaultdict(list)
        for module in self.modules.values():
            for each in module.classes:
                made[each.name].append(module.name)
        return {name: modules for name, modules in made.items() if len(modules) > 1}

    def undocumented(self) -> list[str]:
        """Return the classes and functions in the ``__all__`` of any package, and the public methods of these classes,
        that have no docstring."""
        found: set[str] = set()
        for module in self.modules.values():
            for name in _all(module.tree) if module.is_package else ():
                defining = self._defining(module.name, name)
                if defining in self.modules:
                    found.update(_undocumented(self.modules[defining], name, self._documented_by_protocols))
        return sorted(found)

    @cached_property
    def _documented_by_protocols(self) -> set[str]:
        """The names of methods that have a docstring in a Protocol: the classes that implement it need not repeat
        it."""
        return {
            node.name
            for module in self.modules.values()
            for kind in module.classes
            if any(isinstance(base, ast.Name) and base.id == "Protocol" for base in kind.bases)
            for node in kind.body
            if isinstance(node, _FUNCTIONS) and ast.get_docstring(node)
        }

    def _defining(self, module: str, name: str) -> str:
        """Return the module that defines ``name``, which ``module`` defines or, as a package, exports."""
        while (module, name) in self._exports:
            module = self._exports[module, name]
        return module

    def broad(self) -> list[str]:
        """Return, as module:function, where ``Exception`` is caught and not raised again, or suppressed."""
        return [
            f"{module.name}:{each.name}"
            for module in self.modules.values()
            for each in module.functions
            for node in _own_nodes(each)
            if (isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _raises_again(node))
            or (isinstance(node, ast.With) and any(map(_suppresses_all, node.items)))
        ]


@cache
def parsed(folder: Path) -> Package:
    """Read the package once for each process."""
    return Package(folder)


def _run_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes except those under ``if TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for other in node.orelse:
                yield other
                yield from _run_nodes(other)
            continue
        yield node
        yield from _run_nodes(node)


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, _FUNCTIONS):
            yield node
            waiting += ast.iter_child_nodes(node)


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _is_broad(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(each is None or (isinstance(each, ast.Name) and each.id in _BROAD) for each in caught)


def _suppresses_all(item: ast.withitem) -> bool:
    return ast.unparse(item.context_expr) in {f"suppress({each})" for each in _BROAD}


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether the last statement of the handler is a bare ``raise``."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _all(tree: ast.Module) -> list[str]:
    """Return the names in ``__all__``."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def _undocumented(module: Module, name: str, elsewhere: Container[str]) -> Iterator[str]:
    """Yield the class or function ``name`` and its public methods, if they have no docstring. ``elsewhere``: methods
    that need none."""
    for node in module.tree.body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.name == name:
            if ast.get_docstring(node) is None and not _has_docstring_elsewhere(node):
                yield f"{module.name}.{name}"
            if isinstance(node, ast.ClassDef) and not any(_is_inherited(base) for base in node.bases):
                yield from (
                    f"{module.name}.{name}.{method.name}"
                    for method in node.body
                    if isinstance(method, _FUNCTIONS) and not method.name.startswith(("_", "test_"))
                    if method.name not in elsewhere
                    if ast.get_docstring(method) is None and not _has_docstring_elsewhere(method)
                )


def _is_inherited(base: ast.expr) -> bool:
    """Whether a method of a class with this base may have its docstring there."""
    kind = base.value if isinstance(base, ast.Subscript) else base
    return not (
        isinstance(kind, ast.Name) and kind.id in {"Protocol", "Generic", "ABC", "NamedTuple", "Enum", "StrEnum"}
    )


def _has_docstring_elsewhere(node: Function | ast.ClassDef) -> bool:
    """Whether the docstring is at a property's getter, or at the implementation of an overload."""
    named = {each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in node.decorator_list}
    return bool(named & {"setter", "overload"})


def _strongly_connected(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Tarjan's algorithm, without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[set[str]] = []
    for start in graph:
        work = [(start, iter(sorted(graph[start])))] if start not in index else []
        if work:
            index[start] = low[start] = len(index)
            stack.append(start)
        while work:
            node, rest = work[-1]
            following = next((each for each in rest if each not in index or each in stack), None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    groups.append(set(stack[at:]))
                    del stack[at:]
            elif following in index:
                low[node] = min(low[node], index[following])
            else:
                index[following] = low[following] = len(index)
                stack.append(following)
                work.append((following, iter(sorted(graph[following]))))
    return groups


@dataclass(frozen=True)
class Figure:
    """One line of the table. ``aim`` is the highest good value, or with ``least`` the lowest; None: there is no aim."""

    name: str
    value: float
    aim: float | None = None
    least: bool = False
    places: Sequence[str] = ()

    @property
    def ok(self) -> bool:
        """Whether the value meets the aim."""
        if self.aim is None:
            return True
        return self.value >= self.aim if self.least else self.value <= self.aim


def figures(package: Package, aims: Mapping[str, int]) -> list[Figure]:
    """Return the figures of one distribution. ``aims``: the aims that differ between distributions."""
    modules = list(package.modules.values())
    lines = sorted(module.lines for module in modules)
    functions = package.long_functions()
    once, used_once, broad = package.imported_once(), package.used_once(), package.broad()
    cycles, silent = package.cycles(), package.undocumented()
    repeated = [f"{name}: {' '.join(places)}" for name, places in package.repeated_classes().items()]
    longest = [f"{module.name}: {module.lines}" for module in modules if module.lines > LONGEST]
    rooms, arrows = package.rooms(), package.arrows()
    return [
        Figure("lines", sum(lines), aims.get("lines")),
        Figure("modules", len(modules), aims.get("modules")),
        Figure("lines of a module, median", lines[len(lines) // 2], 110, least=True),
        Figure("modules over 350 lines", len(longest), 0, places=longest),
        Figure("modules that one other uses", len(once), aims.get("imported once"), places=once),
        Figure("private functions used once, %", 100 * len(used_once) / len(functions), 14, places=used_once),
        Figure("lines of a function, 90th percentile", functions[len(functions) * 9 // 10], 30),
        Figure("broad except clauses", len(broad), 12, places=broad),
        Figure("rooms", len(rooms), aims.get("rooms"), places=rooms),
        Figure("arrows between rooms", len(arrows), aims.get("arrows"), places=arrows),
        Figure("cycles of imports", len(cycles), 0, places=[" ".join(cycle) for cycle in cycles]),
        Figure("docstring words for 100 lines", 100 * package.docstring_words() / sum(lines), aims.get("words")),
        Figure("class names defined twice", len(repeated), 0, places=repeated),
        Figure("public names without a docstring", len(silent), 0, places=silent),
    ]


LONGEST: Final = 350
"""Maximum lines of a module."""

PACKAGES: Final = {name: folder / "src" / package(name) for name, folder in DISTRIBUTIONS.items()}
"""Distribution -> the folder of its package."""

_AIMS: Final[Mapping[str, Mapping[str, int]]] = {
    "tenantry": {
        "lines": 50_000, "modules": 330, "imported once": 90, "rooms": 31, "arrows": 150, "words": 60,
    },
    "tenantry-site": {"modules": 110, "imported once": 70},
}  # fmt: skip
"""Aims of each distribution. Where an aim and clarity disagree, clarity wins."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m scripts.structure", description="Figures of how the code is cut.")
    parser.add_argument("--list", action="store_true", help="list the places that miss an aim")
    listed = parser.parse_args().list
    for name, folder in PACKAGES.items():
        print(f"\n{name}")
        for figure in figures(Package(folder), _AIMS.get(name, {})):
            aim = "" if figure.aim is None else f"{'at least' if figure.least else 'at most'} {figure.aim:,g}"
            print(f"  {figure.name:<40} {figure.value:>8,.0f}   {aim:<16} {'' if figure.ok else 'missed'}".rstrip())
            if listed and not figure.ok:
                print("".join(f"      {each}\n" for each in figure.places), end="")


if __name__ == "__main__":
    main()
