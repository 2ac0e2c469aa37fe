"""Tests of the objectives."""
