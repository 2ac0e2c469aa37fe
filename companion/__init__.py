"""The companion to the paper: experiments, their results, chapters, claims, book and command line.

Imports go in one direction: ``experiments`` are configurations, ``running`` computes their repetitions, ``results``
are tables with provenance, ``figures`` and ``studies`` serve several chapters, ``chapters`` have a module each,
``claims`` are decided on results, and ``notebook``, ``book`` and ``cli`` present them. All use ``settings``,
``errors``, ``wording`` and ``checkout``.

>>> from companion.experiments.paper import PAPER
>>> PAPER["figure-2-n20"].n
20
"""
