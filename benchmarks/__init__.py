"""Speed measured against plain C, against automatic differentiation and against the machine itself.

``python -m benchmarks`` from the project's folder runs everything and writes the table and the plots;
``python -m benchmarks --help`` lists the parts. Measured, not tested: the test-suite only runs the quick
form, to see that it works and that the results agree with the C version.
"""
