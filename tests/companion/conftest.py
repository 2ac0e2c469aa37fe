"""Settings of the companion's tests."""

import os
from pathlib import Path

# The kernels of notebooks do not look for modules in the present folder, and some of ours are in `tests`.
os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
