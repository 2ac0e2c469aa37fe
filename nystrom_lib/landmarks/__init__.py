"""Landmarks beyond the paper: objectives, step rules and starts, and the searches that combine them."""
