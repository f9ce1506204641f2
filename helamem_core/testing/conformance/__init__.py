"""What every engine must do: one class a theme, one test a promise or a fault that people have met elsewhere.

An engine's own test is this, and nothing else (needs pytest):

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def engine(self, tmp_path):
            return Engine(open=lambda: MyStore(tmp_path / "data"), durable=True, folder=tmp_path)
"""

from pathlib import Path

import pytest

for _path in Path(__file__).parent.glob("*.py"):
    pytest.register_assert_rewrite(f"{__name__}.{_path.stem}")

from helamem_core.testing.conformance.cues import Cues  # noqa: E402
from helamem_core.testing.conformance.embedding import Embedding, OtherModel, Reembedding  # noqa: E402
from helamem_core.testing.conformance.engine import Engine, StoreCase  # noqa: E402
from helamem_core.testing.conformance.fading import Archiving, Fading, Linked  # noqa: E402
from helamem_core.testing.conformance.filtering import Filtering, Listed  # noqa: E402
from helamem_core.testing.conformance.forgetting import Forgetting, Updating  # noqa: E402
from helamem_core.testing.conformance.recalling import Recalling, Spread  # noqa: E402
from helamem_core.testing.conformance.reinforcing import Reinforcing  # noqa: E402
from helamem_core.testing.conformance.remembering import Remembering  # noqa: E402
from helamem_core.testing.conformance.tenancy import Tenancy  # noqa: E402
from helamem_core.testing.conformance.transfer import Durability, Transfer  # noqa: E402
from helamem_core.testing.conformance.words import Words  # noqa: E402

__all__ = ["Engine", "StoreCase", "StoreConformance"]


class StoreConformance(
    Remembering,
    Recalling,
    Spread,
    Words,
    Reinforcing,
    Cues,
    Forgetting,
    Updating,
    Archiving,
    Fading,
    Linked,
    Tenancy,
    Filtering,
    Listed,
    Transfer,
    Durability,
    Embedding,
    OtherModel,
    Reembedding,
):
    """All themes: inherit from it and override the fixture `engine`."""
