"""Bulk loading: millions of turns from files into one memory, in one process or on all machines of a Ray cluster.

The same files give the same memory, whichever engine loads them and however often: every turn has an identity (`id`,
or `at`, from which one is derived), the turns of a session go through one worker in the order of the files, and what is
stored already stays as it is. Only where one id comes in two sessions, which of the two is stored is chance with Ray.
"""
