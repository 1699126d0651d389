"""How Sphinx makes a site of the Markdown files of this repository, which stay as they are.

`make docs` runs it. Every warning is an error: a link or an anchor that leads nowhere, a page that
the navigation lacks. So is a page that loads anything from another host. The gallery's pages are
reports of the experiments beside it.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from sphinx.util import logging

# Caption: pages, with a name where the page's title is too long.
NAVIGATION = {
    "Start": [
        "What it does <self>",
        "docs/start",
        "docs/install",
        "docs/tasks",
        "docs/gallery",
    ],
    "Guide": [
        "Running, comparing, sharing <docs/guide>",
        "docs/results",
        "docs/queries",
        "docs/replay",
        "docs/gate",
        "docs/bisect",
        "docs/why",
        "docs/trends",
        "docs/web",
        "docs/import",
        "docs/fleet",
    ],
    "Reference": [
        "docs/plans",
        "docs/commands",
        "docs/versions",
        "docs/warnings",
        "Glossary and metrics <docs/glossary>",
        "JSON: compare <docs/compare-json>",
        "JSON: count <docs/count-json>",
        "JSON: explain <docs/explain-json>",
        "JSON: variance, history, advise <docs/trials-json>",
        "The results database <crates/store/SCHEMA>",
    ],
    "How it judges": ["docs/judging", "VALIDATION", "BENCHMARKS"],
    "Findings": [
        "PostgreSQL 9.6 to 18 <docs/findings/postgres-releases>",
        "PostgreSQL: TPC-C <docs/findings/tpcc-releases>",
        "PostgreSQL: TPC-H <docs/findings/tpch-releases>",
        "PostgreSQL 16: zipfian updates <docs/findings/update-zipf>",
        "MySQL and MariaDB <docs/findings/innodb-releases>",
        "RocksDB 6.8 to 10.10 <docs/findings/rocksdb-releases>",
        "RocksDB: mmap <docs/findings/rocksdb-mmap>",
    ],
    "Development": ["CHANGELOG", "ARCHITECTURE", "CONTRIBUTING", "The pages <web/README>"],
}

project = html_title = "steelyard"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "crates/store/SCHEMA.md", "web/README.md"]
exclude_patterns = ["target", "web/node_modules", "dist", "demo-results", "steelyard-results"]
myst_heading_anchors = 4  # as deep as links go
suppress_warnings = ["misc.highlighting_failure"]  # JSON with gaps, and the like
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["steelyard.css"]
html_copy_source = html_show_sourcelink = html_show_copyright = html_use_index = False
smartquotes = False

# What a browser would load by itself. Links that a reader follows may lead anywhere.
LOADED = re.compile(r"""<(?!a\b)[^>]*\s(?:src|href)=["']?(?:https?:)?//|url\(["']?(?:https?:)?//""")
logger = logging.getLogger(__name__)


def add_navigation(app, page, source):
    if page == root_doc:
        for caption, pages in NAVIGATION.items():
            lines = [f":caption: {caption}", ":hidden:", "", *pages]
            source[0] += "\n```{toctree}\n" + "\n".join(lines) + "\n```\n"


def add_pages(app, page, source):
    if page == "docs/gallery":
        link = r'\g<0>, <a href="gallery/\1.html">page</a>'
        source[0] = re.sub(r"\[[^]]*\]\(gallery/(\w+)\.steelyard\)", link, source[0])


def write_reports(into):
    """A page for each experiment of the gallery, with the counts beside it."""
    built = [Path(f"target/{profile}/steelyard").absolute() for profile in ("release", "debug")]
    program = next(path for path in built if path.exists())
    into.mkdir(parents=True, exist_ok=True)
    for run in sorted(Path("docs/gallery").glob("*.steelyard")):
        if run.stem.endswith("-count"):
            continue
        files = [run, *run.parent.glob(f"{run.stem}-count.steelyard")]
        with tempfile.TemporaryDirectory() as results:
            tell = {"check": True, "stdout": subprocess.DEVNULL}
            subprocess.run([program, "import", *files, "--results", results], **tell)
            page = into / run.with_suffix(".html").name
            subprocess.run([program, "report", "--results", results, "-o", page], **tell)


def finish(app, exception):
    if exception is None:
        site = Path(app.outdir)
        shutil.copy(site / "README.html", site / "index.html")
        for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
            if found := LOADED.search(file.read_text()):
                logger.warning("%s loads from another host: %s", file, found.group())
        write_reports(site / "docs/gallery")


def setup(app):
    app.connect("source-read", add_navigation)
    app.connect("source-read", add_pages)
    app.connect("build-finished", finish)
