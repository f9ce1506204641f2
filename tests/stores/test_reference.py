"""The executable specification keeps its own promises."""

from __future__ import annotations

import pytest

from helamem_core.stores.reference import ReferenceStore
from helamem_core.testing.conformance import Engine, StoreConformance


class TestReference(StoreConformance):
    @pytest.fixture
    def engine(self) -> Engine:
        return Engine(open=ReferenceStore)
