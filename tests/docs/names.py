"""Which names the Python blocks of a document bind and read."""

from __future__ import annotations

import ast


def bound(tree: ast.AST) -> set[str]:
    """Every name that the code gives a meaning, in whatever scope: enough for code that somebody reads."""
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
    return names


def read(tree: ast.AST) -> set[str]:
    """Every name whose value the code asks for."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
