"""The mathematics of the memory as pure functions: the specification of every engine.

No input or output, no clock, no state. Functions of numbers take Python floats and numpy arrays alike.
"""
