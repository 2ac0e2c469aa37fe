"""The compiled loops, in plain numba. They do not check their arguments, and import nothing of the rest of the library.

An *entry* (:mod:`.compile`) is called from Python. It is compiled once for all kernels and any number of threads:
kernels are callbacks (:mod:`.profiles`), and threads are Python's own, each of which calls the entry for its share.
"""
