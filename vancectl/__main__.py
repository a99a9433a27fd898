"""The installed command, and `python -m vancectl`."""

import sys

# vancectl.errors.ExitStatus.INTERRUPTED: not imported, since an interrupt may come before anything is.
_INTERRUPTED = 130


def main() -> None:
    """Imports the command line where an interrupt already ends in order."""
    try:
        from vancectl.interrupt import interrupted, watch

        watch()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    try:
        from vancectl.cli.app import main as command_line
    except BaseException:
        if interrupted():
            sys.exit(_INTERRUPTED)
        raise
    command_line()


if __name__ == "__main__":
    main()
