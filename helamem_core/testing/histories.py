"""What histories for engines are drawn from: settings, texts, vectors, questions (needs hypothesis)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from helamem_core.config import (
    DAY,
    DEFAULT,
    PAPER,
    Config,
    Forgetting,
    Limits,
    Linking,
    Plasticity,
    Scoring,
    Selection,
    Spreading,
)
from helamem_core.records import Patch
from helamem_core.testing.fakes import NOW, axis, cue, near, node, patch, vector
from helamem_core.types import Vector

SMALL = Config(
    scoring=Scoring(keywords=0.5, speaker=0.2, time_scale=1e7),
    spreading=Spreading(
        seeds=2, threshold=0.2, next=0.2, associated=1.0, similar=0.5, cued=1.0, cue_threshold=0.3, cues=1, ceiling=0.3
    ),
    selection=Selection(flips=1),
    plasticity=Plasticity(rate=0.2, cue_rate=0.3, decay=0.4, cap=0.6, floor=0.1, max_degree=2),
    linking=Linking(neighbours=1, threshold=0.3),
    forgetting=Forgetting(weak=0.25, age=DAY),
    limits=Limits(max_cues=2, event_retention=DAY, cue_merge=0.9),
)
"""Every bound so low that short histories reach it."""

STRICT_PAPER = replace(PAPER, plasticity=replace(PAPER.plasticity, decay=0.3, cue_rate=0.02))
"""The paper's rule with so much decay that links die within a run."""

SMALL_PAPER = replace(
    SMALL, plasticity=replace(SMALL.plasticity, temporal="associated", temporal_weight=0.3, max_degree=1)
)
"""Low bounds, and links between consecutive turns that count towards the largest degree."""

CONFIGS = {
    "default": DEFAULT,
    "paper": PAPER,
    "small": SMALL,
    "small paper": SMALL_PAPER,
    "strict paper": STRICT_PAPER,
}

SPACES = ("acme", "acme-corp", "copy")
TEXTS = (
    "green tea in the morning",
    "tea tea tea",
    "the server runs in Berlin",
    "rain again in Berlin",
    "Ann likes black tea",
    "用户服务器部署在腾讯云",
    "今天天气很好",
    "我喜欢绿茶",
    "my server runs on 腾讯云 in Berlin",
    "memory:safe OR (python",
    "the of and",
    "",
)
QUESTIONS = (*TEXTS, "where is the server?", "服务器在哪里", "Ann tea", "Berlin 绿茶 python", "nothing of the kind")
_ALIKE = near(axis(0), 0.8, 1)
VECTORS: tuple[Vector | None, ...] = (
    None,
    axis(0),
    axis(1),
    axis(2),
    vector(3, 4),
    vector(4, 3),
    vector(1, 1, 1),
    _ALIKE,
    near(axis(0), 0.8000001, 1),
    near(axis(0), 0.99, 3),
    vector(-1),
)
FILTERS: tuple[Mapping[str, object] | None, ...] = (
    None,
    None,
    None,
    {"n": {"$gt": 9}},
    {"speaker": "Ann"},
    {"$or": [{"tag": "模型"}, {"session": "s"}]},
    {"$not": {"tag": {"$contains": "x"}}},
)
METADATA: tuple[dict[str, Any], ...] = ({}, {"n": 9}, {"n": 10, "tag": "模型"}, {"tag": ["x"], "deep": {"n": [1.5]}})
PROBES = (
    ("Ann drinks green tea in Berlin", axis(0), 4),
    ("", vector(3, 4), 3),
    ("服务器 tea rain", None, 9),
    ("where is the server?", near(axis(1), 0.9, 2), 2),
    ("", axis(2), 9),
)
STRAY = 17
"""The pick that names no memory."""
MOMENTS = (None, None, None, NOW - DAY, NOW, NOW + DAY)

spaces = st.sampled_from((*["acme"] * 5, *["acme-corp"] * 2, "copy"))
vectors = st.sampled_from((None, None, *VECTORS))
moments = st.sampled_from(MOMENTS)
strangers = st.sampled_from((False, False, False, False, False, True))
carriers = st.sampled_from((None, None, False, False, True))
"""Whose vectors a question brings: not said, the space's, those of another model that it was changed from or to."""
skips = st.sampled_from((0, 0, 1, 3))
picks = st.integers(0, 23)
some_picks = st.lists(picks, min_size=1, max_size=4, unique=True)
memories = st.builds(
    node,
    st.sampled_from(TEXTS),
    id=st.sampled_from([f"m{n}" for n in range(12)]),
    vector=vectors,
    session=st.sampled_from((None, "s", "s", "t")),
    speaker=st.sampled_from((None, "Ann", "王芳")),
    at=st.sampled_from((NOW, NOW - DAY, NOW - 100 * DAY, NOW + 1)),
    metadata=st.sampled_from(METADATA),
    expires_at=st.sampled_from((None, None, None, None, NOW + DAY)),
)
events = st.sampled_from((None, None, "e1", "e2"))
questions = st.builds(
    cue,
    st.sampled_from(QUESTIONS[-5:]),
    st.sampled_from((None, axis(0), near(axis(0), 0.99, 3), axis(1), vector(3, 4))),
)
named_cues = st.lists(st.sampled_from([f"cue:{text}" for text in (*QUESTIONS[-5:], "why")]), max_size=2)
"""Ids of cues that may be there."""
cues = st.one_of(st.none(), picks, questions, st.builds(cue, st.just("why"), vectors))
OPEN: dict[str, Any] = {}
views = (
    st.just(OPEN)
    | st.just(OPEN)
    | st.fixed_dictionaries({"since": moments, "until": moments, "as_of": moments, "filters": st.sampled_from(FILTERS)})
)
patches = st.one_of(
    st.builds(lambda text, vector: patch(text, vector=vector), st.sampled_from(TEXTS), st.none() | vectors),
    st.builds(Patch, metadata=st.sampled_from(METADATA)),
    st.builds(Patch, expires_at=st.sampled_from((None, NOW + 1, NOW + 50 * DAY))),
)
