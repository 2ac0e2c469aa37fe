"""Small computations behind the chapters: each a few library calls and what is made of them.

A notebook shows them, the figures draw them, the tests hold them to what they claim to be. The problems are small:
one thread does them sooner than two that have to meet after every step.
"""
