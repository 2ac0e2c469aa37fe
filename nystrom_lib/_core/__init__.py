"""The compiled loops. Nothing here checks its arguments, and nothing here imports the rest of the library.

Nine doors into numba are used that its documentation does not promise to keep. Therefore ``pyproject.toml`` ends the
range of numba and llvmlite with the versions tested. To go on to a newer one: raise the two limits, ``make lock
UPGRADE=--upgrade``, and run ``test_vectors.py``, ``test_cache.py`` and ``test_threads.py``
of ``tests/nystrom_lib`` first. A door that has closed shows there; this is what each is for, and what to do without it.

1. Code generation: ``numba.core.cgutils`` (``alloca_once``, ``for_range_slice``), and ``context.make_array``,
   ``get_value_type`` and ``get_dummy_value`` inside ``@intrinsic``. In :mod:`.vectors`, and for single instructions
   in ``pairs.call``, ``compile.wide``, ``compile.fused`` and ``precise.fma``. Why: LLVM vectorises short rows badly.
   Without it: every vector call has a plain loop beside it with the same result, which does all the work where
   NYSTROM_PLAIN_LOOPS is set, at half the speed or less; ``address`` may become ``array.ctypes.data``, ``call`` a
   function-pointer type.
2. ``set.add(builder.function.attributes, …)`` in ``compile.wide``, past llvmlite's list of the attributes it knows.
   Why: 512-bit vectors. Without it: empty the function; long loops lose up to a third of their speed.
3. ``overloads``, ``library.get_pointer_to_function`` and ``fndesc.llvm_cfunc_wrapper_name`` in
   ``compile.address_of``. Why: the address of a cached callback whose bits do not depend on which process compiled
   it. Without it: ``numba.cfunc(…).address``, uncached, so that every process compiles its own and all agree.
4. ``numba.config.CACHE_DIR`` set while a function is decorated, in ``compile._cached``. Why: a cache folder named
   after all sources. Without it: leave the setting alone and cache nothing while developing, for numba's own folder
   does not notice an edit in a file that is called into.
5. ``numba._dispatcher.compute_fingerprint`` in :mod:`.stages`. Why: what types a note has, in less than a microsecond.
   Without it: ``numba.typeof``, which takes half a millisecond.
6. ``jit_options={"forceinline": …}`` of ``overload`` in :mod:`.profiles`. Why: no copy of a loop is left outside its
   caller for the linker to choose. Without it: generate each block loop as one function of its own.
7. ``numba.core.event`` in :mod:`.compile`. Why: a line that says what is being compiled. Without it: no such line.
8. ``no_cpython_wrapper`` and ``no_cfunc_wrapper`` in :mod:`.compile`. Why: a third of the time to compile goes to
   entries that nobody uses. Without it: leave them out, and wait longer.
9. ``context.data_model_manager`` and arrays without owners in :mod:`.stages`. Why: what a stage is told lies in memory,
   so that it can be called by its address and is compiled once. Without it: make the stages ordinary loops with
   ``prange``, compiled once for one thread and once for several, which takes twice as long.
"""
