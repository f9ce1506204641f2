"""A short talk about tea, in English and Chinese, that was asked about and learned from: something to look at."""

from __future__ import annotations

from helamem_core import Memory, Turn
from helamem_core.protocols import Store
from helamem_core.testing.fakes import CountingIds, FakeClock

DAY = 86_400.0
TALK = (
    ("mon", "Mei", "I've given up coffee; I drink green tea from Hangzhou now."),
    ("mon", "Tom", "Which tea is it? I only know black tea with milk."),
    ("mon", "Mei", "Longjing. My aunt sends a tin every spring."),
    ("mon", "Tom", "Let's meet at the tea house on Elm Street on Friday."),
    ("wed", "美", "我对花生过敏，外出总带着药。"),
    ("wed", "汤姆", "那家茶馆的点心里有花生吗？"),
    ("wed", "美", "龙井茶配绿豆糕，不放花生，我放心。"),
    ("fri", "Tom", "The tea house closes at six, so come early."),
    ("fri", "Mei", "My train from Leeds arrives at four."),
)
EVENTS = (
    ("Which tea does Mei drink?", ("m1", "m3", "m7"), 3),
    ("Where do Mei and Tom meet?", ("m4", "m8"), 2),
    ("美对什么过敏？", ("m5", "m7"), 2),
    ("When does Mei arrive in town?", ("m9", "m8"), 1),
)
"""What was asked, the memories that answered it, and on how many days."""
ARCHIVED = "m2"


def held(store: Store, space: str, clock: FakeClock) -> Memory:
    """Open a space, remember the talk, learn from the questions, one a day, and put one turn aside."""
    memory = Memory.open(store=store, space=space, embedder="hashing", clock=clock, ids=CountingIds())
    memory.remember([Turn(text, speaker=speaker, session=session) for session, speaker, text in TALK])
    for question, used, times in EVENTS:
        for _ in range(times):
            clock.advance(DAY)
            memory.reinforce(used, cue=question)
    memory.archive([ARCHIVED])
    return memory
