from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from simsched import _version

project = "simsched"
author = "The simsched authors"
release = version = _version.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"simsched {version}"
html_show_copyright = False
html_copy_source = False

LIVE_PAGE = "live-page"
"""Folder of the live page in the HTML, where docs/how-to/use-the-live-page.md embeds it."""


def write_live_page(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        command = [sys.executable, "-m", "simsched", "serve", "--write", str(Path(app.outdir) / LIVE_PAGE)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def setup(app: Any) -> None:
    app.connect("build-finished", write_live_page)
