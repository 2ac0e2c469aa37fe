"""Tests of the initial samples."""
