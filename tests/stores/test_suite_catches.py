"""A test of the tests: engines that are wrong in one way each fail the suite and fall out of lockstep."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import Phase, settings

from helamem_core.stores.reference import ReferenceStore
from helamem_core.testing.histories import SMALL
from helamem_core.testing.lockstep import run_lockstep
from tests.stores.mutants import MUTANTS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    """Run the tests that should catch the mutants, and return the (mutant, test) that failed."""
    report = tmp_path_factory.mktemp("suite") / "report.xml"
    file = "tests/stores/mutants.py"
    named = [f"{file}::Test{name}::{test}" for name, mutant in MUTANTS.items() for test in mutant.tests]
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", f"--junitxml={report}"]
    done = subprocess.run([*command, *named], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    cases = ElementTree.parse(report).iter("testcase")
    failures = [case for case in cases if case.find("failure") is not None]
    return {(case.attrib["classname"].rsplit(".Test", 1)[1], case.attrib["name"].split("[")[0]) for case in failures}


@pytest.mark.parametrize(("name", "test"), [(name, test) for name in MUTANTS for test in MUTANTS[name].tests])
def test_suite_catches(failed: set[tuple[str, str]], name: str, test: str) -> None:
    assert (name, test) in failed


@pytest.mark.parametrize("name", [name for name, mutant in MUTANTS.items() if mutant.lockstep])
def test_lockstep_catches(name: str) -> None:
    """The settings with low bounds show the most in the shortest histories."""
    profile = settings(derandomize=True, phases=[Phase.generate], database=None, print_blob=False)
    stores = {"reference": ReferenceStore, "mutant": MUTANTS[name].make}
    with pytest.raises((AssertionError, KeyError, ExceptionGroup)):
        run_lockstep(stores, configs={"small": SMALL}, max_examples=1000, profile=profile)


def test_lockstep_has_nothing_against_the_specification() -> None:
    run_lockstep({"one": ReferenceStore, "other": ReferenceStore}, max_examples=20)
