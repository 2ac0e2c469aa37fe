"""Kernels by name."""

import pytest

import nystrom_lib as nl
from companion.choices import KERNEL_NAMES, METHODS, STARTS, kernel_by_name


@pytest.mark.parametrize("rho", [1e-100, 1e100])
@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_extreme_rho(name: str, rho: float) -> None:
    """Catches an error about a lengthscale that the user did not give."""
    assert kernel_by_name(name, rho).matrix([[0.0]]) == 1.0
    with pytest.raises(ValueError, match=r"^rho is .*; it must be from 1e-100 to 1e\+100"):
        kernel_by_name(name, rho**2)


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_rho_sets_the_width(name: str) -> None:
    narrow, wide = (kernel_by_name(name, rho).matrix([[0.0]], [[1.0]])[0, 0] for rho in (4.0, 0.25))
    assert 0 < narrow < 0.3 < 0.6 < wide < 1


def test_the_library_knows_these_names() -> None:
    """Catches a start or method that the library has and the companion does not offer."""
    data = nl.datasets.bigaussian(N=20).X
    for call, names in ((nl.find_landmarks, METHODS), (nl.initial_sample, STARTS)):
        *others, last = names
        with pytest.raises(ValueError) as error:
            call(nl.Gaussian(1.0), data, 3, method="", seed=0)
        assert f"it must be {', '.join(map(repr, others))} or {last!r}" in str(error.value)
