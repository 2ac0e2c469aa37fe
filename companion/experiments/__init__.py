"""Experiments as in Section 4: their configurations, seeds and one repetition, from sample to criteria."""
