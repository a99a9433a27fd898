"""The installed command, and `python -m vancectl`."""

import sys

# vancectl.errors.ExitStatus.INTERRUPTED: not imported, since an interrupt may come before anything is.
_INTERRUPTED = 130


def main() -> None:
    """Imports the command line where an interrupt already ends in order."""
    try:
        from vancectl.cli.app import main as command_line
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    command_line()


if __name__ == "__main__":
    main()
