"""`python -m helamem_core.cli` is `helamem`."""

from helamem_core.cli import main

if __name__ == "__main__":
    main()
