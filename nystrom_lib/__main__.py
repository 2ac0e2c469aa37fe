"""``python -m nystrom_lib`` is the command ``nystrom``."""

from nystrom_lib.companion.cli import main

if __name__ == "__main__":
    main()
