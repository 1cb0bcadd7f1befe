"""Private keys in every form that gives them away, and their look-alikes that stay.

No key stands here: each is a frame of ASN.1, OpenSSH or OpenPGP around bytes of a seeded generator.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from workbench.redaction.engine import replace
from workbench.redaction.key_material import KeyMaterialPass
from workbench.redaction.rules import load_rules
from workbench.redaction.shapes import fill

KEYS = KeyMaterialPass(load_rules(("keys.toml",)))


def removed(text: str) -> tuple[str, int]:
    """`text` after the pass for keys alone, and its number of markers."""
    data = text.encode("utf-8", "surrogatepass")
    counts: dict[str, int] = {}
    result = replace(data, KEYS.find(data), counts).decode("utf-8", "surrogatepass")
    return result, counts.get("private_key", 0)


def element(tag: int, content: bytes) -> bytes:
    """One DER element."""
    size = len(content)
    length = (
        bytes([size])
        if size < 128
        else b"\x81" + bytes([size])
        if size < 256
        else b"\x82" + size.to_bytes(2, "big")
    )
    return bytes([tag]) + length + content


def whole_number(source: random.Random, size: int) -> bytes:
    return element(2, b"\0" + bytes([128 | source.randrange(128)]) + source.randbytes(size - 1))


RSA = bytes.fromhex("300d06092a864886f70d0101010500")
CURVE = bytes.fromhex("301306072a8648ce3d020106082a8648ce3d030107")
ZERO, ONE = element(2, b"\0"), element(2, b"\1")


def pkcs1(source: random.Random) -> bytes:
    numbers = b"".join(whole_number(source, size) for size in (128, 128, 64, 64, 64, 64, 64))
    return element(0x30, ZERO + numbers[:131] + element(2, b"\1\0\1") + numbers[131:])


def pkcs8(source: random.Random) -> bytes:
    return element(0x30, ZERO + RSA + element(4, pkcs1(source)))


def sec1(source: random.Random) -> bytes:
    return element(
        0x30, ONE + element(4, source.randbytes(32)) + element(0xA1, element(3, source.randbytes(66)))
    )


def pkcs8_curve(source: random.Random) -> bytes:
    return element(0x30, ZERO + CURVE + element(4, sec1(source)))


def edwards(last: int, size: int) -> Callable[[random.Random], bytes]:
    def made(source: random.Random) -> bytes:
        algorithm = element(0x30, bytes([6, 3, 0x2B, 0x65, last]))
        return element(0x30, ZERO + algorithm + element(4, element(4, source.randbytes(size))))

    return made


def encrypted(source: random.Random) -> bytes:
    scheme = element(0x30, bytes.fromhex("06092a864886f70d01050d") + element(0x30, source.randbytes(60)))
    return element(0x30, scheme + element(4, source.randbytes(400)))


def pkcs12(source: random.Random) -> bytes:
    content = bytes.fromhex("06092a864886f70d010701") + source.randbytes(600)
    return element(0x30, element(2, b"\3") + element(0x30, content))


def openssh(source: random.Random) -> bytes:
    return b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none" + source.randbytes(300)


def openpgp(source: random.Random) -> bytes:
    return bytes.fromhex("9503980460000000010800") + b"\x9f" + source.randbytes(500)


FORMS: dict[str, Callable[[random.Random], bytes]] = {
    "PKCS#1": pkcs1,
    "PKCS#8 RSA": pkcs8,
    "PKCS#8 EC": pkcs8_curve,
    "SEC 1": sec1,
    "Ed25519": edwards(0x70, 32),
    "X25519": edwards(0x6E, 32),
    "Ed448": edwards(0x71, 57),
    "X448": edwards(0x6F, 56),
    "encrypted": encrypted,
    "PKCS#12": pkcs12,
    "OpenSSH": openssh,
    "OpenPGP": openpgp,
}
NAMES = sorted(FORMS)


def body_of(form: str, seed: int = 0, width: int = 64) -> list[str]:
    """The lines of a key's base64."""
    text = base64.b64encode(FORMS[form](random.Random(f"{form} {seed}"))).decode()
    return [text[at : at + width] for at in range(0, len(text), width)]


def armoured(form: str, seed: int = 0, label: str = "PRIVATE KEY") -> str:
    return "\n".join([f"-----BEGIN {label}-----", *body_of(form, seed), f"-----END {label}-----"])


def left_of(lines: list[str], result: str) -> list[str]:
    """The pieces of 16 characters of `lines` that stand in `result`."""
    result = result.replace("\\/", "/").replace("%2F", "/").replace("%2B", "+")
    pieces = {line[at : at + 16] for line in lines for at in range(len(line) - 15)}
    return [piece for piece in pieces if piece in result]


BEFORE = "Commit 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c wrote src/keys/loader.py and 3f2b8c1e-1111-4222-8333-abcdefabcdef:\n"

LAYOUTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "CRLF": lambda key: key.replace("\n", "\r\n"),
    "CR": lambda key: key.replace("\n", "\r"),
    "quoted": lambda key: "> " + key.replace("\n", "\n> "),
    "listed": lambda key: "- " + key.replace("\n", "\n- "),
    "commented": lambda key: "# " + key.replace("\n", "\n# "),
    "slashes": lambda key: "// " + key.replace("\n", "\n// "),
    "indented": lambda key: "    " + key.replace("\n", "\n    "),
    "added": lambda key: "+" + key.replace("\n", "\n+"),
    "taken away": lambda key: "-" + key.replace("\n", "\n-"),
    "numbered": lambda key: "\n".join(f"{at:6}\t{line}" for at, line in enumerate(key.split("\n"), 8)),
    "arrows": lambda key: "\n".join(f"{at:5}→{line}" for at, line in enumerate(key.split("\n"), 8)),
    "colons": lambda key: "\n".join(f"{at}: {line}" for at, line in enumerate(key.split("\n"), 8)),
    "log": lambda key: "\n".join(
        f"2024-01-31 12:00:{at % 60:02} INFO {line}" for at, line in enumerate(key.split("\n"))
    ),
    "JSON": lambda key: json.dumps({"key": key, "n": 1}),
    "JSON twice": lambda key: json.dumps([json.dumps({"key": key})]),
    "JSON lines": lambda key: json.dumps(key.split("\n"), indent=1),
    "JSON with escaped slashes": lambda key: json.dumps({"key": key}).replace("/", "\\/"),
    "joined texts": lambda key: "\n".join(f'  "{line}\\n" +' for line in key.split("\n")),
    "address": lambda key: quote(key, safe=""),
    "address twice": lambda key: quote(quote(key, safe=""), safe=""),
    "blanks": lambda key: key.replace("\n", " "),
    "doubled": lambda key: key.replace("\n", "\n\n"),
    "page": lambda key: key.replace("\n", "<br>\n"),
    "continued": lambda key: key.replace("\n", "\\\n"),
}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("form", NAMES)
def test_a_key_goes_in_every_layout_and_what_stands_before_it_stays(form: str, layout: str) -> None:
    for whole in (armoured(form), "\n".join(body_of(form))):
        written = LAYOUTS[layout](whole)
        result, count = removed(BEFORE + written)
        assert count
        assert result.startswith(BEFORE)
        assert left_of(body_of(form), result) == []
        assert "PRIVATE" not in result
        assert re.findall("\r\n|\r|\n", result) == re.findall("\r\n|\r|\n", BEFORE + written)
        assert removed(result) == (result, 0)
        if layout.startswith("JSON"):
            json.loads(result[len(BEFORE) :])


@pytest.mark.parametrize("form", NAMES)
def test_a_key_that_was_cut_goes(form: str) -> None:
    lines = body_of(form)
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    for text in (
        "\n".join([begin, *lines])[:-10],
        "\n".join([begin, lines[0]]),
        "\n".join([lines[-1][:3], *lines, end]),
        json.dumps("\n".join([begin, *lines]))[:-12],
        json.dumps("\n".join([*lines, end]))[1:],
    ):
        result, count = removed(text)
        assert count and left_of(lines, result) == []
        assert removed(result) == (result, 0)


AFTER = (
    "\n\nCommit 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c wrote build/out/release/app-2024.tar.gz,\n"
    "request req_8fK2jd93KDkf93kdKf9aZ, see https://example.org/a/b/c?x=1\n\n01HZX3V9K2M4N5P6Q7R8S9T0VW\n"
)


@pytest.mark.parametrize("form", NAMES)
def test_what_follows_a_key_stays_with_its_end_line_and_without(form: str) -> None:
    # A last line of a few characters, without an END line behind it, is no piece of a key.
    lines = [line for line in body_of(form) if len(line) >= 16]
    for key in (armoured(form), "\n".join(["-----BEGIN PRIVATE KEY-----", *lines]), "\n".join(lines)):
        result, count = removed(BEFORE + key + AFTER)
        assert count == 1
        assert result == BEFORE + "[REDACTED:private_key]" + "\n" * key.count("\n") + AFTER


MARKERS = [
    ("-----begin private key-----", "-----end private key-----"),
    ("BEGIN PRIVATE KEY", "END PRIVATE KEY"),
    ("-----BEGIN ENCRYPTED PRIVATE KEY-----", "-----END ENCRYPTED PRIVATE KEY-----"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n", "-----END PGP PRIVATE KEY BLOCK-----"),
    ("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----"),
    ("-----BEGIN\nRSA\nPRIVATE\nKEY-----", "-----END\nRSA\nPRIVATE\nKEY-----"),
    ("-----BEGIN\\nPRIVATE\\\\nKEY-----", "-----END\\nPRIVATE\\\\nKEY-----"),
    ("%2D%2DBEGIN%20PRIVATE%20KEY%2D%2D", "%2D%2DEND%20PRIVATE%20KEY%2D%2D"),
    ("%252DBEGIN%2520PRIVATE%2520KEY%252D", "%252DEND%2520PRIVATE%2520KEY%252D"),
    (
        "\\u002d\\u002dBEGIN\\u0020PRIVATE\\u0020KEY\\u002d",
        "\\u002d\\u002dEND\\u0020PRIVATE\\u0020KEY\\u002d",
    ),
    ("&#45;&#45;BEGIN&nbsp;PRIVATE&nbsp;KEY&#45;", "&#45;&#45;END&nbsp;PRIVATE&nbsp;KEY&#45;"),
    ("—BEGIN EC\u00a0PRIVATE KEY—", "—END EC\u00a0PRIVATE KEY—"),
    ("-----BEGIN+RSA+PRIVATE+KEY-----", "-----END+RSA+PRIVATE+KEY-----"),
]


@pytest.mark.parametrize(("begin", "end"), MARKERS)
def test_markers_in_any_case_and_any_escape(begin: str, end: str) -> None:
    lines = [fill("{base64:64}", seed) for seed in range(4)]
    for text in ("\n".join([begin, *lines, end]), "\n".join([begin, *lines]), "\n".join([*lines, end])):
        result, count = removed(f"It is {text} so.")
        assert count == 1
        assert result == "It is [REDACTED:private_key]" + "\n" * text.count("\n") + " so."


def test_headers_before_a_body_go_with_it() -> None:
    text = (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,"
        + fill("{hex:32}\n\n{base64:64}\n{base64:20}\n")
        + "-----END RSA PRIVATE KEY-----\nafter"
    )
    result, _ = removed(text)
    assert (
        left_of([line for line in text.split("\n") if re.fullmatch("[A-Za-z0-9+/]{16,}", line)], result) == []
    )
    assert result.endswith("\nafter") and "PRIVATE" not in result


def test_a_checksum_and_glued_lines() -> None:
    text = fill("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{base64:64}\n{base64:12}\n={base64:4}\n")
    assert removed(text)[0].strip() == "[REDACTED:private_key]"
    glued = fill("x -----BEGIN PRIVATE KEY-----{base64:300}==-----END PRIVATE KEY----- y")
    assert removed(glued) == ("x [REDACTED:private_key] y", 1)


@pytest.mark.parametrize("offset", range(3))
@pytest.mark.parametrize("form", ["PKCS#8 RSA", "OpenSSH", "Ed25519"])
def test_armour_that_was_encoded_again(form: str, offset: int) -> None:
    inner = " " * offset + armoured(form)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(inner.encode()).decode()
        wrapped = "\n".join(text[at : at + 76] for at in range(0, len(text), 76))
        for written in (f"tls.key: {text}\nnext: 1", json.dumps({"data": text}), f"a:\n{wrapped}\n"):
            result, count = removed(written)
            assert count and left_of([text[60:]], result.replace("\n", "")) == []
            assert removed(result) == (result, 0)


@pytest.mark.parametrize("form", [name for name in NAMES if name != "OpenPGP"])
def test_the_alphabet_of_addresses(form: str) -> None:
    text = base64.urlsafe_b64encode(FORMS[form](random.Random(form))).decode().rstrip("=")
    assert removed(json.dumps({"k": text})) == ('{"k": "[REDACTED:private_key]"}', 1)


def test_a_putty_file() -> None:
    public, private = [[fill("{base64:64}", seed + 10 * half) for seed in range(5)] for half in range(2)]
    head = "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: me@host\nPublic-Lines: 5\n"
    text = "\n".join(
        [head.rstrip(), *public, "Private-Lines: 5", *private, "Private-MAC: " + fill("{hex:64}")]
    )
    for written in (text, text.replace("\n", "\r\n"), json.dumps(text)):
        result, count = removed(written)
        assert count == 2 and left_of(private, result) == []
        assert "Comment: me@host" in result and "Private-MAC" in result
        assert removed(result) == (result, 0)


@pytest.mark.parametrize("layout", ["as it is", "quoted", "numbered", "JSON", "JSON lines", "log", "address"])
def test_a_dump_of_openssl(layout: str) -> None:
    source = random.Random(4)

    def dump(size: int) -> str:
        octets = [f"{source.randrange(256):02x}" for _ in range(size)]
        return ":\n    ".join(":".join(octets[at : at + 15]) for at in range(0, size, 15))

    secret = dump(128)
    text = f"Private-Key: (1024 bit)\nmodulus:\n    {dump(128)}\npublicExponent: 65537 (0x10001)\nprivateExponent:\n    {secret}\nprime1:\n    {dump(64)}\nASN1 OID: none"
    result, count = removed(LAYOUTS[layout](text))
    assert count
    assert [line for line in secret.split("\n") if line.strip()[:40] in result.replace("%3A", ":")] == []
    assert "publicExponent" in result and removed(result) == (result, 0)
    short = f"ED25519 Private-Key:\npriv:\n    {dump(32)}\npub:\n    {dump(32)}\n"
    assert re.sub(r"\s+", " ", removed(short)[0]).startswith(
        "ED25519 Private-Key: priv: [REDACTED:private_key] pub:"
    )


DUMPS: dict[str, Callable[[list[str]], str]] = {
    "plain": "".join,
    "upper": lambda octets: "".join(octets).upper(),
    "colons": ":".join,
    "blanks": " ".join,
    "array": lambda octets: ",\n  ".join(
        ", ".join("0x" + octet for octet in octets[at : at + 12]) for at in range(0, len(octets), 12)
    ),
    "escapes": lambda octets: '"' + "".join("\\x" + octet for octet in octets) + '"',
    "offsets": lambda octets: "\n".join(
        f"{at:08x}: "
        + " ".join("".join(octets[pair : pair + 2]) for pair in range(at, min(at + 16, len(octets)), 2))
        + "  ..0.a~.."
        for at in range(0, len(octets), 16)
    ),
    "columns": lambda octets: "\n".join(
        f"{at:08x}  {' '.join(octets[at : at + 16])}  |..0.a...|" for at in range(0, len(octets), 16)
    ),
}


@pytest.mark.parametrize("form", [name for name in NAMES if name != "OpenPGP"])
@pytest.mark.parametrize("dump", sorted(DUMPS))
def test_der_as_hexadecimal(dump: str, form: str) -> None:
    octets = [f"{octet:02x}" for octet in FORMS[form](random.Random(form))]
    result, count = removed(f"It is\n{DUMPS[dump](octets)}\nAfter it: more text\n")
    assert count
    assert len(re.sub("[^0-9A-Fa-f]", "", result)) < 60
    assert result.startswith("It is\n") and result.endswith("\nAfter it: more text\n")
    assert removed(result) == (result, 0)


@pytest.mark.parametrize("name", ["d", "p", "q", "dp", "dq", "qi"])
@pytest.mark.parametrize(
    "frame",
    [
        '{"kty":"OKP","%s":"%s","x":1}',
        '{"%s" : "%s"}',
        "{'%s': '%s'}",
        '{\\"%s\\":\\"%s\\"}',
        '{\\\\\\"%s\\\\\\": \\\\\\"%s\\\\\\"}',
        "{&quot;%s&quot;:&quot;%s&quot;}",
        '{"%s":\n  "%s"\n}',
    ],
)
def test_members_of_a_web_key(name: str, frame: str) -> None:
    assert removed(frame % (name, fill("{url:43}", 3))) == (frame % (name, "[REDACTED:private_key]"), 1)


def test_a_symmetric_web_key_is_known_by_its_type() -> None:
    value = fill("{url:43}", 3)
    assert removed(f'{{"kty":"oct","k":"{value}"}}') == ('{"kty":"oct","k":"[REDACTED:private_key]"}', 1)
    assert removed(f'{{"k":"{value}","kty":"oct"}}') == ('{"k":"[REDACTED:private_key]","kty":"oct"}', 1)
    for other in (f'{{"k":"{value}"}}', f'{{"k":"{value}"}},{{"kty":"oct"}}'):
        assert removed(other) == (other, 0)


@pytest.mark.parametrize("name", ["D", "P", "Q", "DP", "DQ", "InverseQ"])
@pytest.mark.parametrize(
    "frame", ["<%s>%s</%s>", "&lt;%s&gt;%s&lt;/%s&gt;", "\\u003c%s\\u003e%s\\u003c/%s\\u003e"]
)
def test_elements_of_a_key_in_xml(name: str, frame: str) -> None:
    value = fill("{base64:86}==", 3)
    assert removed(frame % (name, value, name)) == (frame % (name, "[REDACTED:private_key]", name), 1)
    wrapped = f"<{name}>\n  {value[:64]}\n  {value[64:]}\n</{name}>"
    assert removed(wrapped) == (f"<{name}>\n  [REDACTED:private_key]\n\n</{name}>", 1)


def certificate() -> str:
    inner = element(0x30, random.Random(1).randbytes(500))
    text = base64.b64encode(element(0x30, inner + random.Random(2).randbytes(260))).decode()
    return "\n".join(
        [
            "-----BEGIN CERTIFICATE-----",
            *[text[at : at + 64] for at in range(0, len(text), 64)],
            "-----END CERTIFICATE-----",
        ]
    )


def public_key() -> str:
    text = base64.b64encode(element(0x30, RSA + element(3, b"\0" + random.Random(3).randbytes(270)))).decode()
    return "\n".join(
        [
            "-----BEGIN PUBLIC KEY-----",
            *[text[at : at + 64] for at in range(0, len(text), 64)],
            "-----END PUBLIC KEY-----",
        ]
    )


STAY = [
    certificate(),
    public_key(),
    base64.b64encode(certificate().encode()).decode(),
    "example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + fill("{base64:43}"),
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + fill("{base64:334} me@host"),
    "256 SHA256:" + fill("{base64:43}") + " me@host (ED25519)\nMD5:" + ":".join(["a1"] * 16),
    '<img src="data:image/png;base64,' + fill("{base64:3000}") + '">',
    '"integrity": "sha512-' + fill("{base64:86}") + '=="',
    "00000000: " + " ".join(f"{at * 7 % 256:02x}" for at in range(64)) + "\n#ff8800 #336699 ff:88:00",
    "aa:bb:cc:dd:ee:ff\n12:34:56\n",
    "We begin with the private key and end with the private key of Alice.",
    "A file that starts with -----BEGIN PRIVATE KEY----- must not be committed.",
    'if line == "-----BEGIN PRIVATE KEY-----":\n    read_the_private_key_material_from(path)\nelif line == "-----END PRIVATE KEY-----":\n    done = 1',
    "//# sourceMappingURL=data:application/json;base64,"
    + base64.b64encode(
        b'{"sourcesContent":["const head = \'-----BEGIN PRIVATE KEY-----\'; return parsePrivateKey(head)"]}'
    ).decode(),
    '{"d": "short", "p": "a/b/c", "q": "what-is-the-meaning-of-this"}',
    '{"d":"M19h6v2h-6v2h-2v-2h-6v-2h6v-2h2v2z"}',
    "<P>Supercalifragilisticexpialidocious</P><P>commit 9f8e7d6c5b4a39281706f5e4d3c2b1a0</P>",
    fill('{{"kty":"RSA","n":"{url:342}","e":"AQAB"}}'),
    "The first bytes MIIEpAIBAAKCAQEA mark RSA, b3BlbnNzaC1rZXktdjEA marks OpenSSH.",
    "Private-Key: see below\nAt 12:34:56 the card aa:bb:cc:dd:ee:ff was there\n",
    "-----BEGIN PRIVATE KEY-----\n3f2b8c1e-1111-4222-8333-abcdefabcdef\n9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c",
    "Use `-----BEGIN RSA PRIVATE KEY-----`.\n\nSee https://example.org/docs/keys/Format2024/Overview and SomeVeryLongClassName\n",
]


@pytest.mark.parametrize("text", STAY, ids=lambda text: text[:30])
def test_look_alikes_stay(text: str) -> None:
    assert removed(text) == (text, 0)


def test_a_certificate_and_a_public_key_beside_a_key_stay() -> None:
    for form in NAMES:
        text = "\n".join([certificate(), armoured(form), public_key(), certificate(), ""])
        result, count = removed(text)
        assert count == 1
        assert result.startswith(certificate()) and result.endswith(
            "\n".join([public_key(), certificate(), ""])
        )


signs = st.sampled_from(
    [
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----",
        "PuTTY-User-Key-File-2: x",
        "Private-Key: (",
        "priv:\n",
        "<D>",
        '"d":"',
        '"k":"',
        '"kty":"oct"',
        "308204a40201000282010100112233",
        "UFJJVkFURSBLRV",
        "MIIEpAIBAAKCAQEA",
        "[REDACTED:private_key]",
    ]
)
glue = st.sampled_from(
    [
        "",
        " ",
        "\n",
        "\r\n",
        "\\n",
        "\\\\n",
        '"',
        "'",
        ",",
        "\\",
        "\\u000a",
        "%0A",
        "> ",
        "- ",
        "12: ",
        "{",
        "}",
        "=",
        "-----",
        "word ",
        "\n\n",
    ]
)
pieces = st.builds(
    fill,
    st.sampled_from(
        [
            "{base64:64}",
            "{base64:16}",
            "{url:40}",
            "{base64:22}==",
            "{hex:40}",
            "{base64:9}",
            "ab:cd:ef:01:02:03:04:05:06:07",
        ]
    ),
    st.integers(0, 9),
)
keys = st.builds(armoured, st.sampled_from(NAMES), st.integers(0, 3))
texts = st.lists(st.one_of(signs, glue, glue, pieces, pieces, keys, st.text(max_size=4)), max_size=14).map(
    "".join
)


@settings(max_examples=examples(1500), deadline=None)
@given(texts)
def test_twice_is_once_and_line_ends_stay(text: str) -> None:
    result, count = removed(text)
    assert removed(result) == (result, 0)
    assert re.findall("[\r\n]", result) == re.findall("[\r\n]", text)
    if not count:
        assert result == text
    data = text.encode("utf-8", "surrogatepass")
    spans = KEYS.find(data)
    assert all(span.start < span.end for span in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))


@settings(max_examples=examples(800), deadline=None)
@given(texts, st.booleans(), st.integers(1, 2))
def test_json_stays_json_and_the_probe_sees_it(text: str, ascii_only: bool, depth: int) -> None:
    written = text
    for _ in range(depth):
        written = json.dumps({"text": written, "n": [1]}, ensure_ascii=ascii_only)
    result, _ = removed(written)
    assert list(json.loads(result)) == ["text", "n"]
    if removed(text)[1]:
        escaped = json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        assert KEYS.finds_sign(escaped)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(NAMES), st.sampled_from(sorted(LAYOUTS)), st.integers(0, 10_000), st.text(max_size=30))
def test_no_piece_of_any_key_is_left(form: str, layout: str, seed: int, before: str) -> None:
    head = before + "\n\nthe key:\n"
    result, count = removed(head + LAYOUTS[layout](armoured(form, seed)))
    assert count and result.startswith(head)
    assert left_of(body_of(form, seed), result) == []


@pytest.mark.parametrize("number", [1.0000000000000002e16, -1.2345678901234567e-200, 12345678901234567890123])
def test_a_number_beside_a_key_stays_in_json(number: float) -> None:
    result, count = removed(json.dumps([armoured("Ed25519", 1), number, armoured("Ed25519", 2)[:90], number]))
    assert count and json.loads(result)[1::2] == [number, number]
