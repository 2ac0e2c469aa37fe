"""The compiled loops. Nothing here validates, and nothing here knows the rest of the library.

Three modules, each compiled and cached by itself: no jitted function calls one of another module, because
numba's cache notices an edit of the file a function lives in and not of the files it calls into. What has to
cross a module is a function's address, an integer.
"""
