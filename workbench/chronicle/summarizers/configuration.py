"""A summarizer made of configured values (contract workspace, "[chronicle]"); others read them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from workbench.chronicle.summarizers.command import CommandModel
from workbench.chronicle.summarizers.drawn import Drawn, DrawnAsync
from workbench.chronicle.summarizers.endpoint import EndpointModel
from workbench.chronicle.summarizers.errors import SummarizerConfiguration
from workbench.chronicle.summarizers.extractive import Extractive
from workbench.log.pins.resolver import PinResolver

EXTRACTIVE, COMMAND, OPENAI = "extractive", "command", "openai"
KINDS = (EXTRACTIVE, COMMAND, OPENAI)
DEFAULT_TIMEOUT = 120.0
LONGEST_TIMEOUT = 24 * 3600.0
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_LOOKS_LIKE_A_KEY = re.compile(r"(?:sk|pk|gsk|xai|hf)_[A-Za-z0-9_]{16,}")


class SummarizerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What says how prose is written. Call `checked` before anything is made of it."""

    summarizer: str = EXTRACTIVE
    """`extractive`, `command` or `openai`."""
    command: tuple[str, ...] = ()
    """A program and its arguments, of `command`; no shell reads them."""
    timeout_seconds: float = DEFAULT_TIMEOUT
    """For one stretch, retries among it."""
    model: str = ""
    """The model's name, of `openai`."""
    base_url: str = ""
    """The endpoint's address, of `openai`, up to and without `/chat/completions`."""
    key_variable: str = ""
    """The environment variable that holds the key, or another secret that the program needs; empty: none."""

    @property
    def draws(self) -> bool:
        """Whether it asks something that answers differently each time, and so needs pins."""
        return self.summarizer != EXTRACTIVE

    def checked(self) -> SummarizerSettings:
        """The same settings. Raises `SummarizerConfiguration` for the first that cannot be."""
        if self.summarizer not in KINDS:
            raise _wrong("summarizer is unknown", f"it is one of {', '.join(KINDS)}")
        if not 0 < self.timeout_seconds <= LONGEST_TIMEOUT:
            raise _wrong("timeout_seconds is no time limit", f"more than 0, at most {LONGEST_TIMEOUT:g}")
        if self.key_variable and not _VARIABLE.fullmatch(self.key_variable):
            raise _wrong("key_variable is no name of an environment variable", "name it; never write the key")
        if _LOOKS_LIKE_A_KEY.fullmatch(self.key_variable):
            raise _wrong("key_variable looks like a key itself", "set a variable to it, and name that here")
        if self.summarizer == COMMAND:
            self._check_command()
        if self.summarizer == OPENAI:
            self._check_endpoint()
        return self

    def _check_command(self) -> None:
        if not self.command or not self.command[0].strip():
            raise _wrong("command names no program", 'for example command = ["my-summarizer", "--short"]')
        if any("\0" in word for word in self.command):
            raise _wrong("command holds a zero character", "no program can be given one")

    def _check_endpoint(self) -> None:
        if not self.model.strip():
            raise _wrong("model is missing", "the name that the endpoint knows the model by")
        if not self.base_url:
            raise _wrong("base_url is missing", "for example https://api.openai.com/v1")
        try:
            parts = urlsplit(self.base_url)
            known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            known = False
        if not known or any(letter.isspace() for letter in self.base_url):
            raise _wrong("base_url is no address", "it begins with http:// or https://")
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise _wrong(
                "base_url holds more than an address",
                "a key is named by key_variable, and stands nowhere else",
            )


def summarizer(
    settings: SummarizerSettings,
    resolver: PinResolver | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Extractive | Drawn:
    """The summarizer that the settings describe; nothing is started, loaded or asked yet.

    One that draws does so through `resolver`, usually the ledger of one unit. `environ` is by default the
    process's, `folder` is where a program is started, `cancelled` is asked now and then while it waits.
    Raises `SummarizerConfiguration`, `ValueError` for one that draws and has no resolver.
    """
    settings.checked()
    if settings.summarizer == EXTRACTIVE:
        return Extractive()
    model, name = _model(settings, os.environ if environ is None else environ, folder, cancelled)
    return Drawn(settings.summarizer, model, name, _given(resolver))


def async_summarizer(
    settings: SummarizerSettings,
    resolver: PinResolver,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> DrawnAsync:
    """As `summarizer`, awaited, for settings that draw; a program runs in a thread of its own.

    Raises `ValueError` for `extractive`, which has nothing to wait for.
    """
    settings.checked()
    if not settings.draws:
        raise ValueError("extractive draws nothing; use summarizer()")
    model, name = _model(settings, os.environ if environ is None else environ, folder, cancelled)
    return DrawnAsync(settings.summarizer, model, name, resolver)


def _model(
    settings: SummarizerSettings,
    environ: Mapping[str, str],
    folder: Path | None,
    cancelled: Callable[[], bool] | None,
) -> tuple[CommandModel | EndpointModel, str]:
    timeout, variable = settings.timeout_seconds, settings.key_variable
    if settings.summarizer == COMMAND:
        program = CommandModel(
            settings.command,
            timeout=timeout,
            environ=environ,
            variable=variable,
            folder=folder,
            cancelled=cancelled,
        )
        return program, program.model
    endpoint = EndpointModel(
        settings.base_url, timeout=timeout, environ=environ, variable=variable, cancelled=cancelled
    )
    return endpoint, settings.model


def _given(resolver: PinResolver | None) -> PinResolver:
    if resolver is None:
        raise ValueError("what draws needs a resolver")
    return resolver


def _wrong(what: str, hint: str) -> SummarizerConfiguration:
    return SummarizerConfiguration(f"[chronicle] {what}", hint=hint)
