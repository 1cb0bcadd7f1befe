"""Keys that follow from what an effect was asked (contract log-and-chronicle, §6)."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.log.pins.canonical import sha256_hex


def pin_key(kind: str, material: Mapping[str, object], *, scheme: int = 1) -> str:
    """`p<scheme>:<kind>:<hash>`: the same for the same material, however it is ordered or composed.

    `scheme` counts how keys of a kind are built. The kind is in the text and not in the hash. Raises what
    `sha256_hex` raises.
    """
    return f"p{scheme}:{kind}:{sha256_hex(material)}"
