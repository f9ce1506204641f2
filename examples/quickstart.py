"""The quick start of the README."""

from helamem_core import Memory, Turn

with Memory.open("sqlite:///helamem.db", space="alice") as memory:
    memory.remember(
        [
            Turn("I moved to Lisbon in May and teach the cello there.", speaker="Alice", session="s1"),
            Turn("My dentist is Dr. Costa in Rua da Rosa.", speaker="Alice", session="s1"),
            Turn("我对花生过敏，外出总带着药。", speaker="Alice", session="s2"),
        ]
    )
    found = memory.recall("Which city does Alice live in?", k=2)
    for item in found:
        print(f"{item.score:.2f} {item.path}: {item.text}")
    memory.reinforce(found.ids[:1], cue=found)  # this one was of use
    print(memory.recall("Alice lives in which town?")[0].why)  # the lift names the question asked before
    print(found.as_context(max_tokens=200))
