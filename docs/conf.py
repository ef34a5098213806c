"""The documentation as a site: `make docs`, or `sphinx-build -c docs . build/site`.

Sphinx reads the pages unchanged. This file has only the parts that Markdown cannot express: the
order of the pages, formulas as MathML, and links to folders and scripts. A reader fetches
nothing from elsewhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from docutils.nodes import Element, SkipNode
from latex2mathml.converter import convert
from sphinx.application import Sphinx

import farfield

CHECKOUT = Path(__file__).resolve().parents[1]

project, author = "Farfield", "The Farfield authors"
release = farfield.__version__
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "docs/gallery/*", "benchmarks/results/**.md"]
exclude_patterns = [".*", "build", "mutants", "runs", "reports", "docs/gallery/*.md5"]
extensions = ["myst_parser", "sphinx_gallery.gen_gallery"]

myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # `console` blocks hold answers too

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    # Not run: the example that shows a record and needs MNIST; examples of other packages.
    "filename_pattern": r"/(?!digits_under|\w+_(?:in|with)_(?:lightning|accelerate|transformers))"
    r"\w+\.py$",
    "ignore_pattern": "^$",
    "plot_gallery": "True",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
    "within_subsection_order": "ExampleTitleSortKey",
}
default_role = "code"  # the words of the examples, which have single backquotes as Markdown has

html_theme = "furo"
html_title = "Farfield"
html_extra_path = ["site"]  # a first page that leads to README.html
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"

CONTENTS = {
    "Start": ["docs/my-mechanism", "docs/my-model", "docs/my-paper", "docs/own-work"],
    "Guides": [
        "docs/which-mechanism",
        "docs/gallery/index",
        "docs/normalizers",
        "docs/migration",
        "docs/tasks",
        "docs/large-data",
        "docs/command-line",
        "docs/what-a-record-knows",
        "docs/from-a-laptop-to-a-cluster",
    ],
    "Results": [
        "docs/results/index",
        "docs/mechanisms",
        "docs/findings",
        "docs/deviations",
        "docs/results/*",
        "docs/claims/*",
    ],
    "Cards": ["docs/README", "docs/cards/*"],
    "Speed": ["benchmarks/results/*", "benchmarks/results/*/*"],
    "Project": ["CONTRIBUTING", "CHANGELOG", "SECURITY"],
}
"""Pages in the order of the sidebar."""

WORDS = {r"\arg": r"\operatorname{arg}", r"\Vert": "‖", r"\langle": "⟨", r"\rangle": "⟩"}
"""Symbols that latex2mathml does not convert, at least after `\\big`."""


def mathml(latex: str, display: str) -> str:
    """Convert a formula to MathML, which browsers draw without a script.

    Args:
        latex: The formula.
        display: `"inline"` or `"block"`.

    Raises:
        ValueError: If a word of it is not understood.
    """
    made = convert(
        re.sub(r"\\[A-Za-z]+", lambda word: WORDS.get(word[0], word[0]), latex), display=display
    )
    if "\\" in made:
        raise ValueError(f"this formula is not understood: {latex}")
    return made


def inline(writer: Any, node: Element) -> None:
    """Write a formula within a line."""
    writer.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def block(writer: Any, node: Element) -> None:
    """Write a displayed formula."""
    made = mathml(node.astext(), "block")
    writer.body.append(f'<div style="overflow: auto hidden; padding: 0.5em 0">{made}</div>')
    raise SkipNode


def site_link(page: Path, link: str) -> str:
    """Translate a link to the site: an example to its page, a folder to its cards or last page.

    Args:
        page: The page with the link.
        link: The link.
    """
    target = (page.parent / link).resolve()
    if target.suffix == ".py" and target.parent == CHECKOUT / "examples":
        target = CHECKOUT / "docs" / "gallery" / f"{target.stem}.rst"
    elif target.is_dir():
        pages = CHECKOUT / "docs"
        cards = pages / "cards" / f"{target.name}.md"
        known = {
            "examples": pages / "gallery" / "index.rst",
            **dict.fromkeys(("cli", "explorer"), pages / "command-line.md"),
        }
        found = [cards] if cards.exists() else sorted(target.rglob("*.md"))
        target = known.get(target.name) or found[-1]
    else:
        return link
    return os.path.relpath(target, page.parent)


def adapt(app: Sphinx, docname: str, source: list[str]) -> None:
    """Adapt a page of GitHub to the site.

    Args:
        app: Sphinx.
        docname: Name of the page.
        source: Its text, the only element.
    """
    page = app.env.doc2path(docname)
    if page.suffix != ".md":
        return
    text = re.sub(r"\$`([^`\n]*)`\$", r"$\1$", source[0])
    text = re.sub(r"\]\(([^):#\s]+)\)", lambda link: f"]({site_link(page, link[1])})", text)
    if docname == root_doc:
        for title, pages in CONTENTS.items():
            text += "\n".join(
                ["\n```{toctree}", ":hidden:", ":glob:", f":caption: {title}", "", *pages, "```\n"]
            )
    source[0] = text


def setup(app: Sphinx) -> None:
    """Add the functions of this file to Sphinx.

    Args:
        app: Sphinx.
    """
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("source-read", adapt)
