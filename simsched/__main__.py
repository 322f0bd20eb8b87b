"""``python -m simsched``: the command line."""

from __future__ import annotations

from simsched.cli import main

if __name__ == "__main__":
    main(prog_name="simsched")
