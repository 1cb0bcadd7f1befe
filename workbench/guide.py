"""The guide that is installed beside the code; every face shows the same pages."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "docs"


def page_names() -> list[str]:
    """What the pages are called, the first one first; reads none of them."""
    return sorted((path.stem for path in FOLDER.glob("*.md")), key=lambda name: (name != "index", name))


def page_text(name: str) -> str:
    """One of these pages, as it is written."""
    return FOLDER.joinpath(f"{name}.md").read_text("utf-8")


def pages() -> list[tuple[str, str]]:
    """Name and text of every page, the first one first."""
    return [(name, page_text(name)) for name in page_names()]


def title(text: str) -> str:
    """What a page calls itself."""
    return text.partition("\n")[0].lstrip("# ")
