"""How Sphinx builds the pages of this folder: `python dev.py docs`, or `sphinx-build -W docs build/docs`."""

import re
from pathlib import Path

project = "gradlab"
copyright = "the gradlab authors"
release = re.findall(r'"(.+)"', (Path(__file__).parents[1] / "gradlab" / "_version.py").read_text(encoding="utf-8"))[0]

extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
exclude_patterns = ["pictures"]

html_theme = "furo"
html_title = "gradlab"
