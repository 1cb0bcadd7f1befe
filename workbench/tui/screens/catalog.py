"""The screens that exist: every module beside this one that defines a `PAGE`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.tui.page import Page


def installed_pages() -> tuple[type[Page], ...]:
    """The page classes, in the order of the navigation."""
    from workbench.tui.page import Page, pages_in_order

    package = import_module("workbench.tui.screens")
    modules = [
        import_module(f"{package.__name__}.{found.name}")
        for found in iter_modules(package.__path__)
        if found.name != "catalog" and not found.name.startswith("_")
    ]
    pages = [module.PAGE for module in modules if hasattr(module, "PAGE")]
    return pages_in_order(page for page in pages if issubclass(page, Page))
