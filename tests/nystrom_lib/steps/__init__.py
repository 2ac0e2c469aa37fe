"""Tests of the step rules."""
