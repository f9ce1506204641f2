"""A small planted world: thirty facts with a question each, and an embedder to which a test says what is alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Literal

import numpy as np

from helamem_core.types import EmbedderIdentity, Vector

FACTS = {
    "The greenhouse key hangs behind the blue door": "Where do we keep the key of the greenhouse?",
    "Marta eats sardines on Fridays": "What does Marta have for dinner at the end of the week?",
    "The ladder is stored under the staircase": "Where can I find the ladder?",
    "Our flight to Lisbon leaves at six in the morning": "When does the plane to Portugal depart?",
    "Dr. Okafor moved her practice to Elm Street": "Where is the doctor's office now?",
    "The Wi-Fi password of the cottage is heron-42": "How do I get on the wireless network at the cottage?",
    "Tom is allergic to peanuts": "Which nuts must Tom avoid?",
    "The dishwasher leaks if it is filled too much": "What is wrong with the dishwasher?",
    "Grandmother was born in Gdansk in 1938": "Which city does grandmother come from?",
    "The team chose PostgreSQL for billing": "Which database does billing use?",
    "Lena plays the cello in a quartet": "Which instrument does Lena play?",
    "The red bicycle needs a new chain": "What must be replaced on the bicycle?",
    "The library closes early on Wednesdays": "On which day does the library shut sooner?",
    "Sam's thesis is about Arctic lichens": "What is Sam writing his dissertation on?",
    "The wedding will take place in Siena": "Where are they getting married?",
    "The old laptop has no working camera": "Why can't I make video calls on the old computer?",
    "Aunt Rosa collects porcelain owls": "What does Aunt Rosa collect?",
    "The garage code is 7319": "What number opens the garage?",
    "Ben ran his first marathon in Valencia": "In which city did Ben run a marathon?",
    "The tomatoes were eaten by snails": "What happened to the tomatoes?",
    "Our insurance expires in November": "When does the insurance run out?",
    "Nadia speaks Georgian with her father": "Which language does Nadia use with her dad?",
    "The piano was tuned last spring": "When was the piano last tuned?",
    "The cat hides when it thunders": "What is the cat afraid of?",
    "Professor Lim retired after forty years": "How long did Professor Lim work?",
    "The museum tickets are in the green folder": "Where are the tickets for the museum?",
    "Yusuf drinks his coffee with cardamom": "How does Yusuf take his coffee?",
    "The roof was repaired after the hailstorm": "Why did the roof need repair?",
    "The server room is too warm in August": "When is it too hot for the servers?",
    "Clara sold her boat to a neighbour": "Who bought Clara's boat?",
}
ALIKE = {question: (fact, 0.8) for fact, question in FACTS.items()}
"""To the planted embedder a question is like its fact."""


class PlantedEmbedder:
    """Random vectors, alike only where told.

    Args:
        alike: text to (the text it is like, the cosine).
    """

    def __init__(self, alike: Mapping[str, tuple[str, float]]) -> None:
        self._alike = dict(alike)
        self.identity = EmbedderIdentity("planted", 128)

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        """Return unit vectors of shape (len(texts), 128)."""
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), -1)

    def _vector(self, text: str) -> Vector:
        seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
        own = np.random.default_rng(seed).standard_normal(self.identity.dimension)
        own /= np.linalg.norm(own)
        if text not in self._alike:
            return own.astype(np.float32)
        like, cosine = self._alike[text]
        target = self._vector(like).astype(float)
        rest = own - (own @ target) * target
        mixed: Vector = (cosine * target + np.sqrt(1 - cosine**2) * rest / np.linalg.norm(rest)).astype(np.float32)
        return mixed
