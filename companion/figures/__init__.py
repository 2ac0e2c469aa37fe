"""The pictures of the companion: one file for each kind, one style for all."""
