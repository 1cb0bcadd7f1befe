"""The passes of the filter in their order (contract redaction, "order of passes matters").

Key material, then what a prefix gives away, then what stands in a header, an address or near a word, then
what a name, a label and at last a line gives away.
"""

from __future__ import annotations

from workbench.redaction.aligned import AlignedPass
from workbench.redaction.assigned import AssignedPass
from workbench.redaction.columns import ColumnPass
from workbench.redaction.command_lines import CommandLinePass
from workbench.redaction.context import ContextPass
from workbench.redaction.cookies import CookiePass
from workbench.redaction.drawn import DrawnPass
from workbench.redaction.encoded import EncodedPass
from workbench.redaction.engine import Pass, passes_for
from workbench.redaction.high_entropy import HighEntropyPass
from workbench.redaction.inserts import InsertPass
from workbench.redaction.key_material import KeyMaterialPass
from workbench.redaction.labelled import LabelledPass
from workbench.redaction.quoted import QuotedPass
from workbench.redaction.rare import RarePasses
from workbench.redaction.rules import COMMAND_FILES, CONTEXT_FILES, RULE_FILES, load_rules
from workbench.redaction.several import SeveralPass
from workbench.redaction.split import SplitPass
from workbench.redaction.wrapped import WrappedPass


def all_passes() -> tuple[Pass, ...]:
    """Every pass of the shipped filter; `RulesError` if a rules file cannot be used."""
    rules = load_rules(RULE_FILES)
    keys = KeyMaterialPass([rule for rule in rules if rule.kind == "private_key"])
    tokens = [rule for rule in rules if rule.kind != "private_key"]
    known = passes_for(tokens)
    context = {name: ContextPass(load_rules((name,))) for name in CONTEXT_FILES}
    cookies, assigned = CookiePass(), AssignedPass()
    commands = [*(context[name] for name in COMMAND_FILES), cookies, assigned]
    rare = RarePasses(
        (EncodedPass([*known, assigned]), CommandLinePass(commands), AlignedPass(), SeveralPass())
    )
    return (
        keys,
        WrappedPass(tokens),
        *known,
        *context.values(),
        cookies,
        # Before what reads continued lines as one line: the pieces of one secret go together.
        SplitPass(),
        rare,
        ColumnPass(),
        DrawnPass(),
        InsertPass(),
        QuotedPass(),
        assigned,
        LabelledPass(),
        HighEntropyPass(),
    )
