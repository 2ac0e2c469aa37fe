"""Estimators for scikit-learn: :class:`Nystroem`, :class:`NystroemRegressor` and :class:`NystroemClassifier`.

The only part of the library that needs scikit-learn, which comes with the extra ``sklearn``.
"""

try:
    import sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("nystrom_lib.estimators needs scikit-learn: pip install scikit-learn joblib.") from error

from .models import NystroemClassifier, NystroemRegressor
from .nystroem import Nystroem

__all__ = ["Nystroem", "NystroemClassifier", "NystroemRegressor"]
