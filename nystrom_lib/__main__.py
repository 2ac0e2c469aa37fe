"""``python -m nystrom_lib`` is the command ``nystrom``."""

import sys


def main() -> None:
    """The command line, or one sentence on what it lacks."""
    try:
        from nystrom_lib.companion.cli import main as run
    except ModuleNotFoundError as error:
        from nystrom_lib._extras import sentence

        sys.exit(f"nystrom: {sentence(error)}")
    run()


if __name__ == "__main__":
    main()
