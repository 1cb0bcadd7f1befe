"""The rules as data: every example of every rule, and refusals that name the file and the rule."""

from __future__ import annotations

import pytest

from workbench.redaction import SecretFilter, default_filter, redact
from workbench.redaction.engine import passes_for
from workbench.redaction.filter import version_of
from workbench.redaction.rules import (
    CONTEXT_FILES,
    RULE_FILES,
    Rule,
    RulesError,
    load_rules,
    parse_rules,
    rule_text,
)
from workbench.redaction.shapes import ShapeError, check_shape, example, fill

CONTEXT = [rule for name in CONTEXT_FILES for rule in load_rules((name,))]
RULES = [*load_rules(), *CONTEXT]
POSITIVE = [(rule, shape) for rule in RULES for shape in rule.positive]
NEGATIVE = [(rule, text) for rule in RULES for text in rule.negative]
KINDS = {
    "private_key",
    "anthropic_key",
    "openrouter_key",
    "openai_key",
    "github_token",
    "gitlab_token",
    "huggingface_token",
    "xai_key",
    "runpod_key",
    "replicate_token",
    "aws_access_key",
    "google_api_key",
    "slack_token",
    "stripe_key",
    "telegram_bot_token",
    "jwt",
}

# A look-alike may be random: a word that speaks of keys would be right to give it away.
NEUTRAL = [
    ("", ""),
    ("The value is ", ", as agreed."),
    ("first line\n", "\nlast line"),
    ('{"value":"', '"}'),
    ("密 ", " 。"),
    ("(", ")"),
]
SURROUNDINGS = [
    ("", ""),
    ("The value is ", ", as agreed."),
    ("KEY=", "\nNEXT=1"),
    ("first line\n", "\nlast line"),
    ('{"value":"', '"}'),
    ("https://example.org/hook?key=", "&page=2"),
    ("ключ: ", " — готово"),
    ("密钥", "。"),
    ("(", ")"),
    ("\t`", "`\r\n"),
]


def _named(pair: tuple[Rule, str]) -> str:
    return f"{pair[0].kind}:{pair[1][:30]!r}"


def test_all_kinds_are_there() -> None:
    assert {rule.kind for rule in RULES} >= KINDS


@pytest.mark.parametrize("pair", POSITIVE, ids=_named)
@pytest.mark.parametrize("seed", range(3))
def test_a_positive_example_is_removed_whole(pair: tuple[Rule, str], seed: int) -> None:
    rule, shape = pair
    head, secret, tail = example(shape, seed)
    # Line breaks inside a removed block stay.
    marker = f"[REDACTED:{rule.kind}]" + "".join(mark for mark in secret if mark in "\r\n")
    for outer_before, outer_after in SURROUNDINGS if not head else NEUTRAL:
        before, after = outer_before + head, tail + outer_after
        result = redact(before + secret + after)
        assert result.text == before + marker + after
        assert result.counts == {rule.kind: 1}
        assert redact(result.text) == (result.text, {})


@pytest.mark.parametrize("pair", NEGATIVE, ids=_named)
def test_a_negative_example_stays(pair: tuple[Rule, str]) -> None:
    text = pair[1]
    for before, after in NEUTRAL:
        assert redact(before + text + after) == (before + text + after, {})


@pytest.mark.parametrize("pair", POSITIVE, ids=_named)
def test_the_quick_test_sees_a_token_behind_an_escaped_line_end(pair: tuple[Rule, str]) -> None:
    import json

    secret = "".join(example(pair[1], 7))
    for before in ("\n", "\t", '"', "\\", "\u2028"):
        for ascii_only in (True, False):
            encoded = json.dumps({"content": before + secret}, ensure_ascii=ascii_only).encode()
            assert default_filter().may_change(encoded)


def test_the_first_rule_in_order_names_the_kind() -> None:
    assert redact(fill("sk-ant-{alnum:40}")).counts == {"anthropic_key": 1}
    assert redact(fill("sk-or-v1-{hex:64}")).counts == {"openrouter_key": 1}
    assert redact(fill("sk-{alnum:40}")).counts == {"openai_key": 1}


def test_a_rule_added_as_data_works() -> None:
    rules = parse_rules(
        "more.toml",
        "[fragments]\nhead = 'acme'\n[[rule]]\nkind = 'acme_key'\npattern = '''\n  %head%-\n  [a-z0-9]{12}\n'''\n"
        "positive = ['acme-{hex:12}']\n",
    )
    (step,) = passes_for(rules)
    secret = fill(rules[0].positive[0]).encode()
    assert step.find(b"is " + secret) == [(3, 3 + len(secret), "acme_key")]


GOOD = "[[rule]]\nkind = 'a_kind'\npattern = 'ab{3}'\npositive = ['abbb']\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule]", "not valid TOML"),
        ("[other]\n", "[[rule]] tables only"),
        ("rule = 3\n", "[[rule]] tables only"),
        ("fragments = 3\n", "`fragments` must be a table"),
        (GOOD.replace("a_kind", "A kind"), "bad.toml, rule 1: `kind`"),
        (GOOD + GOOD.replace("a_kind", "other").replace("ab{3}", "é"), "bad.toml, rule 2 (other): `pattern`"),
        (GOOD + "colour = 1\n", "rule 1 (a_kind): unknown key `colour`"),
        (GOOD + "guards = 1\n", "`guards` must be a table"),
        (GOOD + "guards = { right = 'x' }\n", "unknown key `right`"),
        (GOOD + "guards = { left = 'x' }\n", "guard `left`"),
        (GOOD + "guards = { after = '.' }\n", "guard `after`"),
        (GOOD + "guards = { not_slug = 1 }\n", "guard `not_slug`"),
        (GOOD + "guards = { alone = 1 }\n", "guard `alone`"),
        (GOOD + "guards = { alone = true, part_max = true }\n", "guard `part_max`"),
        (GOOD + "guards = { part_max = 5 }\n", "guard `part_max`"),
        (GOOD + "guards = { alone = true, not_slug = true }\n", "not for rules that run alone"),
        (GOOD + "negative = ['']\n", "`negative` must be a list"),
        (GOOD + "probe = 4\n", "`probe` must be"),
        (GOOD.replace("['abbb']", "[]"), "at least one positive"),
        (GOOD.replace("['abbb']", "['{what:3}']"), "unknown class `what`"),
        (GOOD.replace("ab{3}", "a%nothing%"), "unknown fragment `nothing`"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(RulesError) as refused:
        parse_rules("bad.toml", text)
    assert said in refused.value.message
    assert "bad.toml" in refused.value.message
    assert refused.value.code == "redaction_rules_invalid"


def test_an_expression_that_the_engine_refuses_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    rules = parse_rules("bad.toml", GOOD.replace("ab{3}", "(?=a)b"))
    with pytest.raises(RulesError, match=r"bad\.toml, rule 1 \(a_kind\): RE2 refuses"):
        passes_for(rules)
    assert capfd.readouterr().err == ""


def test_a_missing_file_is_named() -> None:
    with pytest.raises(RulesError, match=r"nothing\.toml"):
        rule_text("nothing.toml")


def test_the_version_follows_the_rules() -> None:
    files = [(name, rule_text(name)) for name in (*RULE_FILES, *CONTEXT_FILES)]
    assert SecretFilter().version == version_of(files)
    changed = [(name, text.replace("{20,512}", "{21,512}")) for name, text in files]
    assert version_of(changed) != version_of(files)
    assert version_of(files[:1]) != version_of(files)


def test_shapes_are_the_same_for_the_same_seed() -> None:
    assert fill("x-{alnum:30}", 4) == fill("x-{alnum:30}", 4)
    assert fill("x-{alnum:30}", 4) != fill("x-{alnum:30}", 5)
    assert fill("{digit:8}", 0).isdigit()
    assert {len(fill("{hex:2..4}", seed)) for seed in range(40)} == {2, 3, 4}
    assert fill("{{{digit:0}}}", 0) == "{}"


@pytest.mark.parametrize("shape", ["{alnum}", "{what:3}", "a}", "{alnum:5..2}", "{"])
def test_a_shape_that_cannot_be_filled_is_refused(shape: str) -> None:
    with pytest.raises(ShapeError):
        check_shape(shape)
    with pytest.raises(ShapeError):
        fill(shape)
