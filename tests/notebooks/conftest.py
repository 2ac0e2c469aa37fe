"""What several tests of notebooks need."""

from collections.abc import Iterator

import pytest

from nystrom_lib.companion.notebook import kernel
from tests import warm


@pytest.fixture(scope="module")
def forked() -> Iterator[None]:
    """Kernels that are forked from a process which has everything imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "START", warm.kernel())
        yield
