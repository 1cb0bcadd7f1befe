"""Which texts in a human's place were put there by the program (contract transcripts, the Codex table)."""

from __future__ import annotations

TAGS = (
    "environment_context",
    "user_instructions",
    "INSTRUCTIONS",
    "permissions instructions",
    "collaboration_mode",
    "turn_aborted",
    "user_shell_command",
    "subagent_notification",
    "skill",
)
AGENTS_FILE = "# AGENTS.md instructions for "


def envelope_of(text: str) -> str:
    """The name of the envelope that a text is, or the empty string for what a person wrote.

    A text is an envelope if it begins with one's opening and ends with its closing: a remark behind it
    leaves it a person's.
    """
    bare = text.strip()
    if bare.startswith(AGENTS_FILE) and bare.endswith("</INSTRUCTIONS>"):
        return "agents_file"
    if not bare.startswith("<"):
        return ""
    for tag in TAGS:
        if bare.startswith((f"<{tag}>", f"<{tag} ")):
            return tag.replace(" ", "_").lower() if bare.endswith(f"</{tag}>") else ""
    return ""
