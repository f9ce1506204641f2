"""What a user gets from the wheel and the source distribution."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

ROOT = Path(__file__).parents[2]


def built(target: str, into: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    (artifact,) = into.iterdir()
    return artifact


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(built("wheel", tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Metadata:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return Metadata.from_email(wheel.read(name), validate=True)


def test_wheel_has_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    expected = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "helamem_core").rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.name.startswith(".")
    }
    assert "helamem_core/py.typed" in expected
    shipped = {name for name in wheel.namelist() if name.startswith("helamem_core/")}
    assert shipped == expected


def test_wheel_has_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"helamem_core"}


def test_statements_and_migrations_travel(wheel: zipfile.ZipFile) -> None:
    for folder in ("statements", "migrations"):
        prefix = f"helamem_core/stores/{folder}/"
        assert any(n.startswith(prefix) and n.endswith(".sql") for n in wheel.namelist()), folder


def test_metadata_is_fit_to_publish(metadata: Metadata) -> None:
    assert metadata.name == "helamem"
    assert metadata.license_expression == "Apache-2.0"
    assert metadata.license_files == ["LICENSE"]
    assert metadata.description
    assert metadata.description_content_type == "text/markdown"
    assert str(metadata.requires_python) == ">=3.11"


def test_metadata_has_the_extras(metadata: Metadata) -> None:
    assert set(metadata.provides_extra or []) == {"all", "cli", "local", "neo4j", "openai", "ray", "testing"}


def test_core_alone_is_light(metadata: Metadata) -> None:
    core = {r.name for r in metadata.requires_dist or [] if r.marker is None}
    assert core.isdisjoint({"torch", "sentence-transformers", "openai", "neo4j", "typer", "rich"})


def test_command_is_installed(wheel: zipfile.ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "helamem = helamem_core.cli:main" in wheel.read(name).decode()


@pytest.mark.slow
def test_wheel_from_the_source_distribution_is_the_same(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    shutil.unpack_archive(built("sdist", tmp_path / "sdist"), tmp_path / "source")
    (source,) = (tmp_path / "source").iterdir()
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*command, str(tmp_path / "again")], cwd=source, check=True, capture_output=True)
    (again,) = (tmp_path / "again").iterdir()
    assert set(zipfile.ZipFile(again).namelist()) == set(wheel.namelist())


@pytest.mark.slow
def test_core_alone_imports_without_the_extras(tmp_path: Path) -> None:
    """The wheel, its hard dependencies and nothing more: the extras are hidden from the import."""
    site = tmp_path / "site"
    zipfile.ZipFile(built("wheel", tmp_path / "wheel")).extractall(site)
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "for name in ('torch', 'sentence_transformers', 'openai', 'neo4j', 'typer', 'rich'):\n"
        "    sys.modules[name] = None\n"
        "import helamem_core\n"
        "assert helamem_core.__file__.startswith(sys.path[0]), helamem_core.__file__\n"
        "for name in helamem_core.__all__:\n"
        "    getattr(helamem_core, name)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
