r"""Strict reading of YAML and JSON: every fault with its line and column, all faults of a file at once.

>>> from simsched.config import read_yaml
>>> read_yaml("peak: 2.0e12\nname: no").data
{'peak': 2000000000000.0, 'name': 'no'}
"""

from __future__ import annotations

from simsched.config.document import Document, located
from simsched.config.files import read_document
from simsched.config.json_reader import read_json
from simsched.config.validation import validate
from simsched.config.yaml_reader import read_yaml

__all__ = ["Document", "located", "read_document", "read_json", "read_yaml", "validate"]
