"""What writes the prose of a closed stretch (contract log-and-chronicle, "Ours"; workspace).

`summarizer(settings, resolver)` makes one. Neither the filter's rules nor any model's client is loaded before
the first stretch.
"""

from workbench.chronicle.summarizers.configuration import (
    SummarizerSettings,
    async_summarizer,
    summarizer,
)
from workbench.chronicle.summarizers.drawn import Drawn, DrawnAsync
from workbench.chronicle.summarizers.extractive import Extractive

__all__ = ["Drawn", "DrawnAsync", "Extractive", "SummarizerSettings", "async_summarizer", "summarizer"]
