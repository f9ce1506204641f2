"""What other processes do in `test_sqlite_processes`: run as a script, so that each starts from nothing.

Usage: `sqlite_processes.py kill FILE ROUNDS` or `sqlite_processes.py share FILE SECONDS`. It prints JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.fakes import NOW, Room, axis, cue, node, patch

PATIENCE = 60.0


def kill(path: Path, rounds: int) -> dict[str, Any]:
    """Let a child write and kill it, again and again; then see what is left of what it had acknowledged."""
    SQLiteStore(path).close()
    dice, acknowledged, interrupted = random.Random(0), set[str](), 0
    for number in range(rounds):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            write_for_ever(path, number, write)
        os.close(write)
        with os.fdopen(read, "rb", buffering=0) as acks:
            told = acks.read(1)
            time.sleep(dice.uniform(0.0, 0.03))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            told += acks.read()
        acknowledged |= {f"{number}-{batch}-{item}" for batch in range(len(told)) for item in range(3)}
        interrupted += 1
    with closing(SQLiteStore(path)) as store:
        held = store.present("room", sorted(acknowledged), NOW).keys()
        return {
            "acknowledged": len(acknowledged),
            "lost": sorted(acknowledged - held)[:5],
            "interrupted": interrupted,
            "faults": store.check(),
            "answers": len(Room(store).found("tea", axis(1))),
        }


def write_for_ever(path: Path, number: int, acks: int) -> None:
    """Remember three memories at a time, say so, and teach, update and erase in between."""
    store = SQLiteStore(path)
    room = Room(store)
    for batch in range(1_000_000):
        ids = [f"{number}-{batch}-{item}" for item in range(3)]
        extra = node("tea to go", id=f"extra-{number}-{batch}", session="extra")
        nodes = [node(f"tea {id}", id=id, vector=axis(batch % 9), session=f"s{number}") for id in ids]
        room.remember(*nodes, extra)
        os.write(acks, b".")
        room.reinforce(*ids, cue=cue(f"which tea {batch % 5}?", axis(batch % 7)))
        store.update(room.space, extra.id, patch("tea that went"), NOW)
        store.archive(room.space, [extra.id], NOW)
        if batch % 5 == 4:
            store.forget(room.space, [extra.id])
    os._exit(0)


class Board:
    """What the two processes tell each other: how far each has written and erased, acknowledged."""

    def __init__(self) -> None:
        self.written: list[Synchronized[int]] = [multiprocessing.Value("i", -1) for _ in range(2)]
        self.erased: list[Synchronized[int]] = [multiprocessing.Value("i", -1) for _ in range(2)]


def share(path: Path, seconds: float) -> list[dict[str, Any]]:
    """Let two processes write, teach, erase and read in one file at once."""
    board = Board()
    results: multiprocessing.Queue[dict[str, Any]] = multiprocessing.Queue()
    SQLiteStore(path).close()
    workers = [
        multiprocessing.Process(target=side, args=(path, seconds, me, board, results), daemon=True) for me in range(2)
    ]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=seconds + PATIENCE) for _ in workers]
    for worker in workers:
        worker.join(PATIENCE)
    with closing(SQLiteStore(path)) as store:
        found.append({"faults": store.check()})
    return found


def side(path: Path, seconds: float, me: int, board: Board, results: Any) -> None:
    """Write numbered memories, erase all but the last few, and read those of the other side."""
    done = {"written": 0, "read": 0}
    try:
        with closing(SQLiteStore(path)) as store:
            for key in turns(Room(store), time.monotonic() + seconds, me, board):
                done[key] += 1
        results.put(done)
    except BaseException as error:
        results.put(done | {"error": f"{type(error).__name__}: {error}"})


def turns(room: Room, deadline: float, me: int, board: Board) -> Iterator[str]:
    """Take turns of writing and reading until the time is up."""
    number = 0
    while time.monotonic() < deadline:
        id = f"word{me}x{number}"
        room.remember(node(f"{id} tea", id=id, vector=axis(number % 9), session=f"side {me}"))
        board.written[me].value = number
        room.reinforce(id, cue=cue(f"ask {me} {number % 20}", axis(number % 13)), event=f"{me}-{number}")
        if number % 10 == 9:
            room.store.forget(room.space, [f"word{me}x{old}" for old in range(number - 14, number - 4)])
            board.erased[me].value = number - 5
        number += 1
        yield "written"
        for _ in range(5):
            look(room, 1 - me, board)
            yield "read"


def look(room: Room, other: int, board: Board) -> None:
    """Hold that what the other side has acknowledged is there, and what it has erased is not."""
    erased, written = board.erased[other].value, board.written[other].value
    if written < 0:
        return
    asked = f"word{other}x{written}"
    found = room.found(asked, axis(written % 9), k=10_000)
    if asked not in found and board.erased[other].value < written:
        raise AssertionError(f"{asked} was acknowledged and is not found")
    back = [id for id in found if id.startswith(f"word{other}x") and int(id.split("x")[1]) <= erased]
    if back:
        raise AssertionError(f"{back} were erased (up to {erased}) and came back")


if __name__ == "__main__":
    what, file, amount = sys.argv[1:]
    print(json.dumps(kill(Path(file), int(amount)) if what == "kill" else share(Path(file), float(amount))))  # noqa: T201
