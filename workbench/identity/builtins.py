"""Agents that every workspace knows (contract memory, "Identity folding"). The order of rules counts."""

from __future__ import annotations

from workbench.identity.entries import Names

AGENTS = (
    Names("claude", aliases=("operator",), prefixes=("claude",)),
    Names("glm", prefixes=("zcode",), contains=("glm",)),
    Names("deepseek", contains=("deepseek",)),
    Names("codex", prefixes=("codex",)),
    Names("gemini", prefixes=("gemini",)),
    Names("opencode", prefixes=("opencode",)),
    Names("transcript-analyst", prefixes=("transcript-analyst",)),
)

DEFAULT_DOMAIN = "global"
"""Where what names no domain belongs."""

DEFAULT_AGENT = "mcp"
"""Who speaks where nobody is named."""
