"""For those who write an engine or test against one: fakes, the conformance suite, the lockstep machine.

`fakes` needs nothing but this library, `conformance` needs pytest, `lockstep` needs hypothesis.
"""
