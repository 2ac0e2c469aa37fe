"""Kernels by name."""

import pytest

from companion.kernels import KERNEL_NAMES, kernel_by_name


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


def test_unknown_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match=r"kernel is 'gausian' \(did you mean 'gaussian'\?\); it must be one of"):
        kernel_by_name("gausian", 1.0)
