"""The claims of the paper, judged: each by a statistic and thresholds that were fixed before the results were seen.

``declared`` holds what was fixed; the other modules measure and decide; ``page`` writes it up.
"""

from __future__ import annotations

from .base import Claim, Evidence, Finding, Threshold, Verdict
from .declared import CLAIMS

__all__ = ["CLAIMS", "Claim", "Evidence", "Finding", "Threshold", "Verdict"]
