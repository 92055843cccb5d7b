#!/usr/bin/env python
"""`python manage.py` is the same program as `dradash`."""

from dradash.cli import main

if __name__ == "__main__":
    main()
