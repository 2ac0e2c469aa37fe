"""Which formula of the paper is computed by which function, checked by which test, used in which chapter.

One table, from which the book takes the line below every formula and its index page. The numbered equations come
under their numbers; what the paper leaves without a number comes under a capital letter.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError
from ..wording import did_you_mean

__all__ = ["EQUATIONS", "Check", "Equation", "check", "equation", "function"]


@dataclass(frozen=True)
class Equation:
    """One formula and where to find it.

    Attributes
    ----------
    number : str
        What stands beside it in the book: the paper's number, or a letter of ours.
    what : str
        What it says, in a few words.
    where : str
        Where the paper has it.
    page : str
        The theory page that shows it, below ``book/``.
    functions : tuple of str
        Public names of ``nystrom_lib`` that compute it.
    tests : tuple of str
        Tests that check it, as pytest names them.
    chapters : tuple of str
        Chapters that use it, by their short names.
    """

    number: str
    what: str
    where: str
    page: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]
    chapters: tuple[str, ...]

    @property
    def label(self) -> str:
        """Its name in the book: ``{eq}`eq-5```."""
        return f"eq-{self.number}"

    @property
    def numbered(self) -> bool:
        """Does the paper number it?"""
        return self.number.isdigit()


_ORACLE = "tests/nystrom_lib/test_derivatives.py::test_derivatives_agree_with_the_oracle"
_DIFFERENCES = "tests/nystrom_lib/test_derivatives.py::test_derivatives_agree_with_central_differences"
_THEOREM = "tests/nystrom_lib/test_lipschitz.py::test_theorem_holds_on_random_samples"
_APPENDIX = "tests/nystrom_lib/test_lipschitz.py::test_numbers_of_the_appendix"
_ESTIMATORS = "tests/nystrom_lib/test_stochastic.py::test_estimators_agree_with_the_oracle"

_APPROXIMATION, _SKD, _CONVERGENCE = "theory/approximation", "theory/radial_skd", "theory/convergence"
_PROOF, _STOCHASTIC, _PROTOCOL = "theory/proof", "theory/stochastic", "theory/protocol"

EQUATIONS: tuple[Equation, ...] = (
    Equation(
        "1",
        "Nyström approximation from columns",
        "§1",
        _APPROXIMATION,
        ("nystrom_from_columns",),
        (
            "tests/nystrom_lib/test_approximation.py::test_columns_of_any_positive_matrix",
            "tests/nystrom_lib/test_approximation.py::test_columns_agree_with_landmarks",
        ),
        ("approximation",),
    ),
    Equation(
        "2",
        "Nyström approximation from landmark points",
        "§1.1",
        _APPROXIMATION,
        ("NystromApproximation",),
        (
            "tests/nystrom_lib/test_approximation.py::test_matrix_agrees_with_the_oracle",
            "tests/nystrom_lib/test_approximation.py::test_features_blocks_and_matrix_agree",
        ),
        ("approximation",),
    ),
    Equation(
        "P",
        "the approximation as a projection",
        "Remark 1.1",
        _APPROXIMATION,
        ("NystromApproximation.features", "NystromApproximation.residuals"),
        (
            "tests/nystrom_lib/test_approximation.py::test_residual_is_positive_and_vanishes_on_landmarks",
            "tests/nystrom_lib/test_approximation.py::test_full_rank_returns_the_kernel_matrix",
        ),
        ("approximation",),
    ),
    Equation(
        "C",
        "the criteria (C.1) trace, (C.2) Frobenius, (C.3) spectral",
        "§1.2",
        _APPROXIMATION,
        ("nystrom_errors",),
        (
            "tests/nystrom_lib/test_criteria.py::test_all_norms_on_a_part_of_the_data",
            "tests/nystrom_lib/test_criteria.py::test_trace_on_the_bigaussian_data",
            "tests/nystrom_lib/test_anchor.py::test_initial_row",
        ),
        ("approximation", "bigaussian", "abalone", "magic", "miniboone"),
    ),
    Equation(
        "3",
        "the radial squared-kernel discrepancy R",
        "§1.3",
        _SKD,
        ("radial_skd", "squared_frobenius_norm"),
        (
            "tests/nystrom_lib/test_radial_skd.py::test_value_agrees_with_the_oracle",
            "tests/nystrom_lib/test_radial_skd.py::test_convention_when_the_sample_has_no_norm",
        ),
        ("radial_skd", "bigaussian", "magic"),
    ),
    Equation(
        "M",
        "R as a distance with the best total mass",
        "Remark 1.2",
        _SKD,
        ("radial_skd", "skd_coefficient"),
        ("tests/nystrom_lib/test_radial_skd.py::test_the_data_set_itself_is_a_perfect_sample",),
        ("radial_skd",),
    ),
    Equation(
        "I",
        "the inequalities between the criteria and R",
        "§1.3",
        _SKD,
        ("radial_skd", "nystrom_errors"),
        (
            "tests/nystrom_lib/test_radial_skd.py::test_inequalities_of_section_1_3",
            "tests/nystrom_lib/test_radial_skd.py::test_bounds",
        ),
        ("radial_skd",),
    ),
    Equation(
        "4",
        "left and diagonal derivatives of K²",
        "§1.3",
        _SKD,
        ("Kernel.squared_left", "Kernel.squared_diagonal"),
        ("tests/nystrom_lib/test_kernels.py::test_values_and_derivatives_agree_with_the_oracle",),
        ("radial_skd",),
    ),
    Equation(
        "5",
        "the exact partial derivative of R",
        "§1.3",
        _SKD,
        ("radial_skd_gradient",),
        (_ORACLE, _DIFFERENCES),
        ("radial_skd", "stochastic_gradients", "bigaussian", "your_data"),
    ),
    Equation(
        "K",
        "α, M₁ and M₂ of the Gaussian kernel",
        "Theorem 2.1",
        _CONVERGENCE,
        ("Gaussian.constants", "Matern.constants", "RationalQuadratic.constants"),
        ("tests/nystrom_lib/test_kernels.py::test_constants_are_the_suprema",),
        ("convergence",),
    ),
    Equation(
        "D",
        "the decrease of R at every step of size at most 1/L",
        "§2",
        _CONVERGENCE,
        ("gradient_descent", "LipschitzBound.step"),
        ("tests/nystrom_lib/test_descent.py::test_step_of_the_theorem_never_increases_R",),
        ("convergence",),
    ),
    Equation(
        "T",
        "T₁, T₂ and Υ",
        "§3",
        _STOCHASTIC,
        ("stochastic.estimate_T1", "stochastic.estimate_T2"),
        ("tests/nystrom_lib/test_stochastic.py::test_the_whole_data_set_as_batch_gives_the_gradient",),
        ("stochastic_gradients",),
    ),
    Equation(
        "E",
        "the estimators of T₁ and T₂ from a batch",
        "§3",
        _STOCHASTIC,
        ("stochastic.estimate_T1", "stochastic.estimate_T2", "stochastic.draw_batch"),
        (
            "tests/nystrom_lib/test_stochastic.py::test_T1_and_T2_are_unbiased",
            "tests/nystrom_lib/test_stochastic.py::test_batches_are_independent_uniform_indices",
        ),
        ("stochastic_gradients",),
    ),
    Equation(
        "6",
        "the one-sample estimator",
        "§3",
        _STOCHASTIC,
        ("one_sample_gradient",),
        (_ESTIMATORS, "tests/nystrom_lib/test_descent.py::test_stochastic_steps_follow_the_oracle"),
        ("stochastic_gradients", "abalone", "magic", "miniboone", "your_data"),
    ),
    Equation(
        "B",
        "the bias of the one-sample estimator",
        "§3, in words",
        _STOCHASTIC,
        ("one_sample_gradient",),
        ("tests/nystrom_lib/test_stochastic.py::test_one_sample_bias_is_its_closed_form",),
        ("stochastic_gradients",),
    ),
    Equation(
        "7",
        "the two-sample estimator",
        "§3",
        _STOCHASTIC,
        ("two_sample_gradient",),
        (_ESTIMATORS, "tests/nystrom_lib/test_stochastic.py::test_two_and_four_sample_means_are_the_gradient"),
        ("stochastic_gradients",),
    ),
    Equation(
        "V",
        "the parts of the two variances",
        "§3, in words",
        _STOCHASTIC,
        ("one_sample_gradient", "two_sample_gradient"),
        ("tests/companion/test_studies.py::test_the_two_variances_are_those_over_every_batch",),
        ("stochastic_gradients",),
    ),
    Equation(
        "F",
        "the estimator from four samples",
        "Remark 3.1",
        _STOCHASTIC,
        ("stochastic.four_sample_gradient",),
        (_ESTIMATORS, "tests/nystrom_lib/test_stochastic.py::test_two_and_four_sample_means_are_the_gradient"),
        ("stochastic_gradients",),
    ),
    Equation(
        "G",
        "the step of the descents",
        "§4",
        _PROTOCOL,
        ("gradient_descent", "stochastic_gradient_descent", "uniform_sample"),
        (
            "tests/nystrom_lib/test_descent.py::test_steps_follow_the_oracle",
            "tests/companion/test_seeds_and_protocol.py::test_a_repetition_is_the_protocol_word_for_word",
        ),
        ("bigaussian", "abalone", "magic", "miniboone", "your_data"),
    ),
    Equation(
        "8",
        "the approximation factors",
        "§4",
        _PROTOCOL,
        ("approximation_factors", "best_rank_errors"),
        (
            "tests/nystrom_lib/test_criteria.py::test_factors_are_quotients_and_at_least_one",
            "tests/nystrom_lib/test_criteria.py::test_best_rank_errors",
        ),
        ("approximation", "bigaussian", "abalone", "magic"),
    ),
    Equation(
        "9",
        "the coefficient c_S",
        "Appendix",
        _PROOF,
        ("skd_coefficient",),
        (_ORACLE, "tests/nystrom_lib/test_radial_skd.py::test_value_agrees_with_the_oracle"),
        ("radial_skd", "convergence"),
    ),
    Equation(
        "10",
        "the partial derivative of R through c_S",
        "Appendix",
        _PROOF,
        ("radial_skd_gradient",),
        (_ORACLE, "tests/nystrom_lib/test_derivatives.py::test_gradient_on_the_notebook_data"),
        ("convergence",),
    ),
    Equation(
        "11",
        "second derivatives in one landmark",
        "Appendix",
        _PROOF,
        ("radial_skd_hessian", "derivatives.hessian_vector_product"),
        (_ORACLE, _DIFFERENCES),
        ("convergence",),
    ),
    Equation(
        "12",
        "second derivatives in two landmarks",
        "Appendix",
        _PROOF,
        ("radial_skd_hessian", "derivatives.hessian_vector_product"),
        (_ORACLE, "tests/nystrom_lib/test_derivatives.py::test_hessian_products_need_no_hessian"),
        ("convergence",),
    ),
    Equation(
        "13",
        "the derivative of c_S",
        "Appendix",
        _PROOF,
        ("skd_coefficient_gradient",),
        (_ORACLE,),
        ("convergence",),
    ),
    Equation(
        "14", "‖K_S‖² is at least nα", "Appendix", _PROOF, ("LipschitzBound.norm_bound",), (_THEOREM,), ("convergence",)
    ),
    Equation(
        "15",
        "Cauchy–Schwarz in the RKHS of K²",
        "Appendix",
        _PROOF,
        ("Kernel.squared", "squared_frobenius_norm"),
        (_THEOREM, "tests/nystrom_lib/test_radial_skd.py::test_bounds"),
        ("convergence",),
    ),
    Equation(
        "16", "c_S lies between 0 and C₀", "Appendix", _PROOF, ("LipschitzBound.C0",), (_APPENDIX, _THEOREM),
        ("convergence",),
    ),
    Equation(
        "17", "the derivatives of c_S are at most C₁", "Appendix", _PROOF, ("LipschitzBound.C1",),
        (_APPENDIX, _THEOREM), ("convergence",),
    ),
    Equation(
        "18", "bound of the second derivatives in one landmark", "Appendix", _PROOF, ("LipschitzBound.same_bound",),
        (_APPENDIX, _THEOREM), ("convergence",),
    ),
    Equation(
        "19", "bound of the second derivatives in two landmarks", "Appendix", _PROOF,
        ("LipschitzBound.different_bound",), (_APPENDIX, _THEOREM), ("convergence",),
    ),
    Equation(
        "H",
        "the Hessian as n × n blocks, its norms",
        "Appendix",
        _PROOF,
        ("radial_skd_hessian", "largest_hessian_eigenvalue"),
        (_THEOREM, "tests/nystrom_lib/test_derivatives.py::test_largest_hessian_eigenvalue"),
        ("convergence",),
    ),
    Equation(
        "L",
        "the Lipschitz constant L",
        "Appendix",
        _PROOF,
        ("lipschitz_bound", "LipschitzBound.L"),
        (_APPENDIX, _THEOREM, "tests/nystrom_lib/test_lipschitz.py::test_the_largest_curvature_is_within_the_bound"),
        ("convergence",),
    ),
)  # fmt: skip


def equation(number: str) -> Equation:
    """One formula by its number or letter.

    Examples
    --------
    >>> equation("5").functions
    ('radial_skd_gradient',)
    """
    for candidate in EQUATIONS:
        if candidate.number == number:
            return candidate
    known = [candidate.number for candidate in EQUATIONS]
    hint = did_you_mean(number, known)
    raise ConfigurationError("number", f"is {number!r}{hint}; known: {', '.join(known)}.")


def function(name: str) -> Any:
    """The public object of ``nystrom_lib``, or of its module ``lipschitz``, with this name.

    Examples
    --------
    >>> function("radial_skd").__name__
    'radial_skd'
    """
    library = import_module("nystrom_lib")
    target: Any = library if hasattr(library, name.partition(".")[0]) else import_module("nystrom_lib.lipschitz")
    for part in name.split("."):
        target = getattr(target, part)
    return target


@dataclass(frozen=True)
class Check:
    """A test as the book shows it.

    Attributes
    ----------
    name : str
        As pytest calls it, ``tests/test_x.py::test_y``.
    catches : str
        The first line of its docstring: what it would catch.
    source : str
        Its code, decorators included.
    """

    name: str
    catches: str
    source: str


def check(name: str, root: Path) -> Check:
    """Read a test out of the checkout at ``root``.

    Raises
    ------
    ConfigurationError
        If there is no such file, or no such test in it.
    """
    file, _, function_name = name.partition("::")
    tests = _functions(root / file)
    if function_name not in tests:
        hint = did_you_mean(function_name, tests)
        raise ConfigurationError("name", f"is {name!r}{hint}; there is no such test.")
    catches, source = tests[function_name]
    return Check(name, catches, source)


@cache
def _functions(path: Path) -> dict[str, tuple[str, str]]:
    """Docstring and source of the test functions of a file."""
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    functions = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            doc = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")
            functions[node.name] = (doc, "\n".join(lines[first - 1 : node.end_lineno]))
    return functions
