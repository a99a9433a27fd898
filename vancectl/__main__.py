"""`python -m vancectl`."""

from vancectl.cli.app import main

if __name__ == "__main__":
    main()
