"""``python -m companion`` is the command ``nystrom``."""

import sys


def main() -> None:
    """Run the command line, or print one sentence if a package cannot be imported."""
    try:
        from companion.cli import main as run
    except ImportError as error:
        sys.exit(f"nystrom: {error}")
    run()


if __name__ == "__main__":
    main()
