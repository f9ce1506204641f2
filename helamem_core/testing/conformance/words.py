"""Finding by words: any text is a question, and the statistics are those of the space as it is."""

from __future__ import annotations

import pytest

from helamem_core.config import PAPER, Config, Scoring
from helamem_core.protocols import Store
from helamem_core.testing.conformance.engine import StoreCase, about
from helamem_core.testing.fakes import Room, axis, node, patch

ODD_QUERIES = [
    "memory:safe",
    'say "hi',
    "foo AND",
    "(python",
    "/b testing",
    "what?!",
    "C++",
    "a:b~",
    "agentic-os",
    "OC-41252",
    "2026-05-08",
    "NEAR(tea rain)",
    "tea OR rain",
    "NOT tea",
    "-tea",
    "^tea",
    "te*",
    "title:[a TO z]",
    "{x}",
    "a\\",
    "tea && rain || !tram",
    "' OR 1=1 --",
    "用户服务器",
    "naïve café",
    "😀",
    "\ud83d tea",
    "tea\x00rain",
]
EMPTY_QUERIES = ["", " ", "`", "the of and", "?!...", "*", "%", "_", '"', "\\", "--", "\n", "，。"]


class Words(StoreCase):
    """The lexical leg of `recall`."""

    @pytest.mark.parametrize("text", ODD_QUERIES, ids=range(len(ODD_QUERIES)))
    def test_text_is_no_grammar(self, room: Room, text: str) -> None:
        """Faults: text taken as the grammar of FTS5 or Lucene, a hyphen taken as a column filter."""
        room.remember(node(text, id="exact"), node("memory safe python testing os tea rain 2026 05 用户", id="other"))
        assert room.found(text)[0] == "exact"

    @pytest.mark.parametrize("text", EMPTY_QUERIES, ids=range(len(EMPTY_QUERIES)))
    def test_nothing_left_after_cleaning(self, room: Room, text: str) -> None:
        """Fault: a question of stop words or signs raises, or finds all. The vector answers, or nothing does."""
        room.remember(node("tea", vector=axis(0)), node("rain"))
        assert room.found(text) == []
        assert room.found(text, axis(0)) == ["tea"]

    def test_ten_thousand_words(self, room: Room) -> None:
        """Fault: a long question overflows a limit of the engine."""
        room.remember(node("tea with lemon"), node("rain"))
        assert room.found(" ".join(f"w{n}" for n in range(10_000)) + " tea with lemon")[0] == "tea with lemon"

    def test_chinese_run_is_words(self, room: Room) -> None:
        """Fault: a run of Chinese is one token."""
        room.remember("用户服务器部署在腾讯云", "今天天气很好", "my server runs on 腾讯云 too")
        assert sorted(room.found("腾讯云")) == sorted(["用户服务器部署在腾讯云", "my server runs on 腾讯云 too"])
        assert room.found("天气") == ["今天天气很好"]
        assert room.found("服务器在哪里")[0] == "用户服务器部署在腾讯云"

    def test_trailing_hyphen(self, room: Room) -> None:
        """Fault: a trailing hyphen silently empties the answer."""
        room.remember("tb-12 is open", "rain")
        assert room.found("tb-") == ["tb-12 is open"]

    def test_edit_is_reindexed(self, room: Room) -> None:
        """Fault: an edit is not reindexed: the new word finds, the old one does not."""
        room.remember(node("green tea", id="x", vector=axis(0)), node("rain"))
        room.store.update("room", "x", patch("black coffee", vector=axis(1)), room.now)
        assert (room.found("coffee"), room.found("tea"), room.found("green")) == (["x"], [], [])
        assert room.get("x").terms == node("black coffee").terms

    def test_old_vector_goes_with_the_old_text(self, room: Room) -> None:
        """Fault: the old vector answers after an update that brought none."""
        room.remember(node("tea", id="x", vector=axis(0)))
        room.store.update("room", "x", patch("coffee"), room.now)
        assert room.found("", axis(0)) == []
        assert [item.id for item in room.store.pending("room", 9)] == ["x"]

    def test_rare_words_tell_more(self, room: Room) -> None:
        """A word that few memories have weighs more than one that most have."""
        room.remember("tea time", "tea pot", "tea cup", "rain time")
        assert room.found("tea rain")[0] == "rain time"

    def test_weak_match_is_weak(self, room: Room) -> None:
        """Lexical strength is absolute: one word of four matched gives no full score."""
        room = room.tuned(scoring=Scoring(lexical=1.0))
        room.remember("tea time", "rain", "tram")
        (one,) = room.recall("tea").items
        (weak,) = room.recall("tea zebra quartz violin").items
        assert 0 < weak.why.lexical < one.why.lexical / 2
        assert one.why.lexical <= 1.0

    def test_statistics_follow_every_change(self, store: Store) -> None:
        """Scores after forget, update, archive and expiry are those of a space that never had the rest."""
        used, fresh = Room(store, "used"), Room(store, "fresh")
        used.remember("tea pot", "tea cup", "rain", "rain tea tea", "tram stop", "tram line")
        store.forget("used", ["tea cup"])
        store.archive("used", ["tram stop"], used.now)
        store.update("used", "rain", patch("snow and tea and tea"), used.now)
        fresh.remember("tea pot", node("snow and tea and tea", id="rain"), "rain tea tea", "tram line")
        for text in ("tea", "rain", "snow tea tram", "cup stop"):
            assert _scores(used, text) == _scores(fresh, text)
        store.restore("used", ["tram stop"])
        fresh.remember("tram stop")
        assert _scores(used, "tram tea") == _scores(fresh, "tram tea")

    def test_keywords_of_the_paper(self, room: Room) -> None:
        """Under PAPER a shared keyword finds what has no vector, with half the share of keywords as score."""
        room.remember(node("violin lessons", keywords=("violin", "lesson")), "rain")
        (found,) = Room(room.store, "room", PAPER).recall("violin").items
        assert (found.node.id, found.why.keywords) == ("violin lessons", about(0.5))

    def test_words_can_be_switched_off(self, room: Room) -> None:
        """With no lexical weight and no keywords, words alone find nothing."""
        room.remember("tea")
        silent = Config(scoring=Scoring(lexical=0.0, keywords=0.0))
        assert Room(room.store, "room", silent).found("tea") == []


def _scores(room: Room, text: str) -> list[tuple[str, float]]:
    return [(item.node.id, round(item.score, 9)) for item in room.recall(text).items]
