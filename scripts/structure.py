"""Figures of how the code is cut: modules, functions, imports. ``make structure`` prints them with their aims.

    python -m scripts.structure             every figure of every distribution
    python -m scripts.structure --list      and the places that miss an aim

An import inside a function counts. One under ``TYPE_CHECKING`` does not, except for the arrows between rooms.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from scripts.distributions import DISTRIBUTIONS, ROOT, package

CORE: Final = ROOT / "src" / "tenantry"

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_BROAD: Final = {"Exception", "BaseException"}


@dataclass(frozen=True)
class Module:
    """One file. ``name`` is dotted."""

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
        """All of them, methods too."""
        return [node for node in ast.walk(self.tree) if isinstance(node, _FUNCTIONS)]

    @cached_property
    def classes(self) -> list[ast.ClassDef]:
        """All of them."""
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
        """The module of each import, and the name that is imported of it, if any."""
        for node in _run_nodes(module.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names if alias.name in self.modules)
            elif isinstance(node, ast.ImportFrom) and node.module in self.modules:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield (inner, "") if inner in self.modules else (str(node.module), alias.name)

    @cached_property
    def _exports(self) -> Mapping[tuple[str, str], str]:
        """A package and a name that it exports -> the module that the package imports it from."""
        return {
            (module.name, alias.name): str(node.module)
            for module in self.modules.values()
            if module.is_package
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and node.module in self.modules
            for alias in node.names
        }

    def _used(self, module: Module) -> Iterator[str]:
        """The modules that define what this module imports, whichever package exports it."""
        yield from (self._defining(source, name) for source, name in self._imported(module))

    def cycles(self) -> list[list[str]]:
        """Groups of modules that import one another, however far around."""
        return [sorted(group) for group in _strongly_connected(self.imports) if len(group) > 1]

    def imported_once(self) -> list[str]:
        """Modules whose names exactly one other module uses. That a package exports them is no use."""
        importers = [module for module in self.modules.values() if not module.is_package or module.functions]
        users = Counter(name for module in importers for name in {*self._used(module)} - {module.name})
        return sorted(name for name, count in users.items() if count == 1)

    def rooms(self) -> list[str]:
        """The packages and modules of the first level."""
        return sorted({name.split(".")[1] for name in self.modules if "." in name})

    def arrows(self) -> list[str]:
        """Each room and a room that it imports, by a type checker's imports too."""
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
        """Words in the docstrings of modules, classes and functions."""
        return sum(
            len((ast.get_docstring(node) or "").split())
            for module in self.modules.values()
            for node in (module.tree, *module.classes, *module.functions)
        )

    def used_once(self) -> list[str]:
        """Private functions and methods that their module names once besides where they are made."""
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
        """Lines of every function, in order."""
        return sorted(
            (each.end_lineno or 0) - each.lineno + 1 for module in self.modules.values() for each in module.functions
        )

    def repeated_classes(self) -> dict[str, list[str]]:
        """Names of classes that are made in more than one module."""
        made = defaultdict(list)
        for module in self.modules.values():
            for each in module.classes:
                made[each.name].append(module.name)
        return {name: modules for name, modules in made.items() if len(modules) > 1}

    def undocumented(self) -> list[str]:
        """The classes and functions in the ``__all__`` of any package, and public methods of these classes, that have
        no docstring."""
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
        """The module that defines what a module imports from ``module``, whichever packages export it."""
        while (module, name) in self._exports:
            module = self._exports[module, name]
        return module

    def broad(self) -> list[str]:
        """Where every exception is caught, as module:function."""
        return [
            f"{module.name}:{each.name}"
            for module in self.modules.values()
            for each in module.functions
            for handler in _own_nodes(each)
            if isinstance(handler, ast.ExceptHandler) and _is_broad(handler) and not _raises_again(handler)
        ]


def _run_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for other in node.orelse:
                yield other
                yield from _run_nodes(other)
            continue
        yield node
        yield from _run_nodes(node)


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Those of a function without the functions inside it."""
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


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Cleans up and lets the exception go on."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _all(tree: ast.Module) -> list[str]:
    """The names in ``__all__``."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def _undocumented(module: Module, name: str, elsewhere: Container[str]) -> Iterator[str]:
    """The class or function and its public methods, if they have no docstring. ``elsewhere``: methods that need
    none."""
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
    """A property's setter has its getter's docstring, an overload that of the implementation."""
    named = {each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in node.decorator_list}
    return bool(named & {"setter", "overload"})


def _strongly_connected(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """By Tarjan's algorithm, without recursion."""
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
    """One line of the table. ``aim`` is the greatest good value, or the smallest if ``least``; None sets no aim."""

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
    """Those of one distribution. ``aims``: those that differ between distributions."""
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
"""Lines that no module exceeds."""

PACKAGES: Final = {name: folder / "src" / package(name) for name, folder in DISTRIBUTIONS.items()}
"""Distribution -> the folder of its package."""

_AIMS: Final[Mapping[str, Mapping[str, int]]] = {
    "tenantry": {
        "lines": 50_000, "modules": 330, "imported once": 90, "rooms": 31, "arrows": 150, "words": 60,
    },
    "tenantry-site": {"modules": 110, "imported once": 70},
}  # fmt: skip
"""Where a figure and clarity disagree, clarity wins."""


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
