"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

# Written in two halves, so that this file keeps its own rule.
FOREIGN = {
    "a registry's host": "|".join(
        name + r"\." + domain
        for name, domain in [
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("pytorch", "org/whl"),
            ("npmjs", "org"),
            ("crates", "io"),
            ("golang", "org"),
            ("maven", "org"),
            ("maven.apache", "org"),
            ("debian", "org"),
        ]
    ),
    "a path of some machine": "|".join("/" + name + "/" for name in ["work", "root", "tmp/bash_jobs"])
    + "|/home/(?!you/)[a-z]",
}
DATA_BESIDE = re.compile(r"(?<![\w-])shared" + "/")


def listed_files() -> list[Path]:
    """Every file that git tracks or would track."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout: the files of the project are not told from others")
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def texts() -> Iterator[tuple[Path, str]]:
    for path in listed_files():
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def python_files(*folders: str) -> list[Path]:
    return [path for path in listed_files() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in folders]


def functions(path: Path) -> Iterator[tuple[str, FunctionNode, bool]]:
    """Every function with its dotted name, and whether a user can reach it by public names."""

    def walk(node: ast.AST, prefix: str, public: bool) -> Iterator[tuple[str, FunctionNode, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FunctionNode):
                reachable = public and not child.name.startswith("_")
                yield prefix + child.name, child, reachable
                yield from walk(child, f"{prefix}{child.name}.", public=False)
            elif isinstance(child, ast.ClassDef):
                reachable = public and not child.name.startswith("_")
                yield from walk(child, f"{prefix}{child.name}.", reachable)
            else:
                yield from walk(child, prefix, public)

    module = ast.parse(path.read_text(encoding="utf-8"))
    yield from walk(module, f"{path.relative_to(ROOT)}: ", not path.name.startswith("_") or path.stem == "__init__")


def test_no_file_names_a_host_or_a_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {what}"
        for path, text in texts()
        for what, pattern in FOREIGN.items()
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line)
    ]
    assert not found, "\n".join(found)


def test_only_the_ci_knows_where_the_data_lies() -> None:
    found = [
        str(path.relative_to(ROOT)) for path, text in texts() if path != ROOT / ".ci/run" and DATA_BESIDE.search(text)
    ]
    assert not found, f"read HELAMEM_DATA instead of a fixed folder in {found}"


STATEMENT = re.compile(
    r"\s*(SELECT\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|REPLACE\s+INTO\s"
    r"|WITH\s+(RECURSIVE\s+)?\w+.*\sAS\s*\(|CREATE\s+(TABLE|INDEX|UNIQUE|VIRTUAL|TRIGGER|VIEW|TEMP)"
    r"|ALTER\s+TABLE\s|DROP\s+(TABLE|INDEX|TRIGGER|VIEW)\s|PRAGMA\s|VACUUM\b|MATCH\s*\(|MERGE\s*\(|UNWIND\s)",
    re.DOTALL,
)
# What belongs to a connection, not to an operation of the memory.
CONNECTION = re.compile(r"\s*(PRAGMA\s|VACUUM\b|SELECT\s+sqlite_version\(\))")


def test_no_statement_in_python() -> None:
    found = []
    for path in python_files("helamem_core"):
        is_engine = path.parent.name == "stores" and path.name.startswith(("sqlite", "neo4j"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            if STATEMENT.match(node.value) and not (is_engine and CONNECTION.match(node.value)):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.value[:60]!r}")
    assert not found, "put it into stores/statements/:\n" + "\n".join(found)


def test_files_are_short() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in python_files("helamem_core", "tests", "examples")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert not long, f"more than {MAX_FILE_LINES} lines: {long}"


def test_functions_are_short() -> None:
    long = []
    for path in python_files("helamem_core", "tests", "examples"):
        for name, node, _ in functions(path):
            start = node.body[0].lineno if ast.get_docstring(node) is None else after_docstring(node)
            count = (node.end_lineno or start) - start + 1
            if count > MAX_FUNCTION_LINES:
                long.append(f"{name} ({count})")
    assert not long, f"more than {MAX_FUNCTION_LINES} lines of code: {long}"


def after_docstring(node: FunctionNode) -> int:
    return (node.body[0].end_lineno or node.lineno) + 1


def test_public_functions_have_docstrings() -> None:
    bare = [
        f"{name} (line {node.lineno})"
        for path in python_files("helamem_core")
        for name, node, public in functions(path)
        if public and ast.get_docstring(node) is None and not is_overload(node)
    ]
    assert not bare, "\n".join(bare)


def is_overload(node: FunctionNode) -> bool:
    """Overloads and setters are documented where they are implemented or read."""
    names = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(name.endswith(("overload", "override", ".setter")) for name in names)


@pytest.mark.parametrize("name", ["runtime", "dev", "uv"])
def test_pins_have_hashes_and_no_host(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    pins = [line for line in text.splitlines() if re.match(r"\w", line)]
    assert pins
    assert all(re.match(r"[\w.-]+==\S+ ", pin) and pin.endswith("\\") for pin in pins)
    blocks = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text
    assert not re.search(r"^\s*--(?!hash)", text, flags=re.MULTILINE)
