"""`python -m fem_mbs`: the command line `fem-mbs`."""

from fem_mbs.cli.main import main

if __name__ == "__main__":
    main()
