"""The book: papermill executes the chapters, Jupyter Book renders them and the pages in ``book/``."""
