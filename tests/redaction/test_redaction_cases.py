"""The filter's cases, case by case: what goes under which kind, and what stays byte for byte."""

from __future__ import annotations

import base64
import random

import pytest

from workbench.redaction import redact
from workbench.redaction.shapes import fill


def _base64(size: int, seed: int, *, url: bool = False) -> str:
    raw = random.Random(seed).randbytes(size)
    return (base64.urlsafe_b64encode(raw) if url else base64.b64encode(raw)).decode()


def _base32(size: int, seed: int) -> str:
    return base64.b32encode(random.Random(seed).randbytes(size)).decode()


GONE: list[tuple[str, str, dict[str, int]]] = [
    ("Please use «sk-proj-{alnum:48}» for now.", "R01", {"openai_key": 1}),
    ("«sk-ant-api03-{alnum:48}»", "R02", {"anthropic_key": 1}),
    ("«sk-or-v1-{hex:64}»", "R03", {"openrouter_key": 1}),
    ("«ghp_{alnum:36}»", "R04", {"github_token": 1}),
    ("«github_pat_{alnum:22}_{alnum:27}»", "R05", {"github_token": 1}),
    ("«glpat-{alnum:20}»", "R06", {"gitlab_token": 1}),
    ("«hf_{alnum:34}»", "R07", {"huggingface_token": 1}),
    ("«xai-{alnum:48}»", "R08", {"xai_key": 1}),
    ("«rpa_{alnum:40}»", "R09", {"runpod_key": 1}),
    ("«r8_{alnum:37}»", "R10", {"replicate_token": 1}),
    ("«AKIA{updigit:16}»", "R11", {"aws_access_key": 1}),
    ("«AIza{alnum:35}»", "R12", {"google_api_key": 1}),
    ("«xoxb-{digit:12}-{alnum:24}»", "R13", {"slack_token": 1}),
    ("«sk_live_{alnum:24}»", "R14", {"stripe_key": 1}),
    ("«eyJ{alnum:33}.eyJ{alnum:80}.{url:43}»", "R15", {"jwt": 1}),
    ("«eyJ{alnum:33}.eyJ{alnum:9997}.{url:43}»", "R16", {"jwt": 1}),
    ("bot «{digit:9}:AA{alnum:33}»", "R17", {"telegram_bot_token": 1}),
    ("VENDOR_API_KEY=«{alnum:40}»", "R18", {"assigned_secret": 1}),
    ('{{"api_key": "«{alnum:32}»"}}', "R19", {"assigned_secret": 1}),
    ("password: «{alnum:14}»", "R20", {"assigned_secret": 1}),
    ("client_secret = '«{alnum:30}»'", "R21", {"assigned_secret": 1}),
    ("authToken: «{alnum:40}»", "R22", {"assigned_secret": 1}),
    ("AWS_SESSION_TOKEN=«{base64:792}»", "R23", {"assigned_secret": 1}),
    ("password:                «{alnum:14}»", "R24", {"assigned_secret": 1}),
    ("https://example.org/?token=«{alnum:24}»&page=2", "R25", {"assigned_secret": 1}),
    ("https://example.org/#state=1&access_token=«{alnum:30}»&expires_in=3600", "R26", {"assigned_secret": 1}),
    ("password: «{alnum:6}&{alnum:7}»", "R27", {"assigned_secret": 1}),
    ("Production key «{alnum:40}»", "R28", {"labelled_key": 1}),
    ("Vendor key: «{alnum:48}»", "R29", {"labelled_key": 1}),
    (f"key: «{_base64(900, 1, url=True)}»", "R30", {"labelled_key": 1}),
    (f"key: «{_base32(320, 2)}»", "R31", {"labelled_key": 1}),
    ("key: «{updigit:5}-{updigit:5}-{updigit:5}-{updigit:5}-{updigit:5}»", "R32", {"labelled_key": 1}),
    ("Authorization: Bearer «{alnum:40}»", "R33", {"bearer_token": 1}),
    (
        f"Authorization: Basic «{base64.b64encode(b'user:' + fill('{alnum:12}', 3).encode()).decode()}»",
        "R34",
        {"basic_credential": 1},
    ),
    ("postgres://app:«{alnum:12}»@db.example.org/app", "R35", {"url_password": 1}),
    ("postgres://app:«pass»@host", "R35", {"url_password": 1}),
    ("postgres://app:«{alnum:1}»@host", "R36", {"url_password": 1}),
    ("ACCESS_TOKEN «{alnum:40}»", "R37", {"high_entropy": 1}),
    ("ключ «{alnum:40}»", "R38", {"high_entropy": 1}),
    ("вот пароли «{alnum:40}»", "R38", {"high_entropy": 1}),
    (
        "w " * 1200 + "the token of today " + "w " * 100 + "«{alnum:40}» " + "w " * 1000,
        "R39",
        {"high_entropy": 1},
    ),
    (
        "curl -H 'Authorization: Bearer «{alnum:40}»' postgres://app:secretly9@host",
        "R40",
        {"bearer_token": 1, "url_password": 1},
    ),
    # Values that people write down in sentences.
    ("the password is «{alnum:11}7»", "English", {"assigned_secret": 1}),
    ("The password for the staging server is «{alnum:11}7».", "English", {"assigned_secret": 1}),
    ("das Passwort lautet «{alnum:11}7»", "German", {"assigned_secret": 1}),
    ("Das Passwort für den Server ist «{alnum:11}7»", "German", {"assigned_secret": 1}),
    ("le mot de passe est «{alnum:11}7»", "French", {"assigned_secret": 1}),
    ("la contraseña es «{alnum:11}7»", "Spanish", {"assigned_secret": 1}),
    ("Пароль от базы — «{alnum:11}7»", "Russian", {"assigned_secret": 1}),
    ("пароль: «{alnum:11}7»", "Russian", {"assigned_secret": 1}),
    # How programs are told.
    ("mysqldump --password «{alnum:11}7» shop", "option", {"assigned_secret": 1}),
    ("tool --api-key=«{alnum:20}»", "option", {"assigned_secret": 1}),
    ('{{\\"password\\": \\"«{alnum:12}»\\"}}', "escaped", {"assigned_secret": 1}),
    ('os.environ["API_KEY"] = "«{alnum:20}»"', "element", {"assigned_secret": 1}),
    ("<password>«{alnum:11}7»</password>", "XML", {"assigned_secret": 1}),
    ('password: str = "«{alnum:12}»"', "annotation", {"assigned_secret": 1}),
    ("Server=db;User Id=sa;Password=«{alnum:12}»;Encrypt=true", "ADO.NET", {"assigned_secret": 1}),
    ("PGPASSWORD=«{alnum:12}» psql", "glued", {"assigned_secret": 1}),
    ("//registry.example.org/:_authToken=«{alnum:36}»", "npmrc", {"assigned_secret": 1}),
    ("curl -u admin:«{alnum:12}» https://example.org", "curl", {"command_password": 1}),
    ("machine example.org login me password «{alnum:12}»", "netrc", {"netrc_password": 1}),
    ("me:«$apr1${alnum:8}${alnum:22}»", "htpasswd", {"password_hash": 1}),
    ("Cookie: lang=de; sessionid=«{lowdigit:32}»", "cookie", {"cookie": 1}),
    ("Set-Cookie: sid=«{alnum:32}»; HttpOnly", "cookie", {"cookie": 1}),
    ("mongodb+srv://me:«{alnum:14}»@cluster0.example.net", "mongodb", {"url_password": 1}),
    ("otpauth://totp/Acme:me?secret=«{base32:32}»&issuer=Acme", "otpauth", {"otp_seed": 1}),
    # Over several lines.
    ("password=«{alnum:12}\\\n{alnum:12}»\nnext", "backslash", {"assigned_secret": 1}),
    ('token = "«{alnum:12}" +\n  "{alnum:12}»"\nnext', "joined", {"assigned_secret": 1}),
    ("password: >-\n  «{alnum:12}\n  {alnum:12}»\nnext: 1", "folded", {"assigned_secret": 1}),
]


@pytest.mark.parametrize("case", GONE, ids=lambda case: f"{case[1]} {case[0][:24]!r}")
@pytest.mark.parametrize("seed", range(3))
def test_the_secret_goes_and_the_rest_stays(case: tuple[str, str, dict[str, int]], seed: int) -> None:
    shape, _, counts = case
    before, _, rest = shape.partition("«")
    secret, _, after = rest.partition("»")
    before, secret, after = fill(before), fill(secret, seed), fill(after)
    result = redact(before + secret + after)
    assert result.counts == counts
    breaks = "".join(sign for sign in secret if sign in "\r\n")
    if len(counts) == 1:
        (kind,) = counts
        assert result.text == f"{before}[REDACTED:{kind}]{breaks}{after}"
    assert len(secret) < 8 or secret not in result.text
    assert redact(result.text) == (result.text, {})


RANDOM = fill("{alnum:40}", 11)
HEX = fill("{hex:64}", 12)
STAYS = [
    "max_tokens=4000",
    "token_count: 12345678",
    "api_key=${OPENAI_KEY}",
    "NAME_TOKEN=OTHER_NAME",
    "password: <redacted>",
    "token = None",
    "The token was renewed and the password is stored elsewhere.",
    "PWD=/home/maya/projects/atlas",
    "basic understanding of things",
    "tokenizer=model-name-v2-large",
    f"passwordless {RANDOM}",
    "https://example.org/?token=abc",
    '{"prompt_tokens": 1200, "id": "chatcmpl-' + fill("{alnum:29}", 4) + '"}',
    f"publicKey {RANDOM}",
    f"https://drive.example.org/folders/{fill('{url:33}', 5)}",
    f"Author {fill('{alnum:44}', 6)}",
    f"token line {HEX}",
    f"token line {HEX[:40]}",
    "token line 3f2b8c1e-1111-4222-8333-abcdefabcdef",
    f"token line SHA256:{fill('{base64:43}', 7)}",
    "token line fix-the-import-of-large-transcripts-2024-01-31",
    "token line holiday-video-of-the-whole-team-720p",
    "token line feature/ABC-123-support-HTTP-and-TLS-in-the-API-client",
    "token line report_of_the_third_quarter_final_v2.pdf",
    f"auth token <img src='data:image/png;base64,{_base64(3000, 8)}'>",
    "password: Abc123x",
    "password: aaaabbbbccccdddd",
    "Key takeaway: everything-is-in-order-for-now",
    "[REDACTED:openai_key] password: [REDACTED:assigned_secret]",
    f"XAKIA{fill('{updigit:16}', 9)}",
    f"ghp_{fill('{alnum:20}', 10)}",
    "token " + "w " * 1200 + RANDOM + " w" * 1000,
    '{"d": "short"}',
    "\x1b[32m00000000  7f 45 4c 46 02 01 01 00\x1b[0m",
    # Code.
    "password = self.password",
    "token = get_token(user)",
    "api_key: settings.OPENAI_API_KEY",
    "secret: ${{ secrets.NPM_TOKEN }}",
    'password = os.environ["DB_PASSWORD"]',
    "pwd = getpass.getpass()",
    "password = new_password",
    "token: AbstractTokenFactory",
    "const token = await getToken(request.headers.authorization)",
    'token: "constant.language.boolean"',
    "curl -u $USER:$PASS https://example.org",
    "postgres://user:${PASSWORD}@host/db",
    # Public things.
    f'"integrity": "sha512-{_base64(64, 13)}"',
    f"js-tokens@4.0.0: resolution sha512-{_base64(64, 14)}",
    f"token image@sha256:{HEX}",
    f'"mappings": "{";".join(fill("{letter:4},{letter:4}", seed) for seed in range(200))}"',
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{fill('{base64:43}', 15)} token@host",
    f"github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{fill('{base64:43}', 16)}",
    f"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA{fill('{base64:43}', 17)}=\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n"
    + "\n".join(fill("{base64:64}", seed) for seed in range(12))
    + "\n-----END CERTIFICATE-----",
    "!function(e,t){var n=t.token,r=e.password;return n||r.token}(window,document);",
]


@pytest.mark.parametrize("text", STAYS, ids=lambda text: text[:40])
def test_what_looks_alike_stays(text: str) -> None:
    for before, after in (("", ""), ("first line\n", "\nlast line"), ("- ", ".")):
        whole = before + text + after
        assert redact(whole) == (whole, {})
