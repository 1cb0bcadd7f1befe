"""How names fold, and which names mean the same project, domain or agent."""

from workbench.identity.entries import Names
from workbench.identity.errors import NamesError
from workbench.identity.folding import fold
from workbench.identity.registry import EMPTY, Registry
from workbench.identity.scopes import Scope, resolve

__all__ = ["EMPTY", "Names", "NamesError", "Registry", "Scope", "fold", "resolve"]
