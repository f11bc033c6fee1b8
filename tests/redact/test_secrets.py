"""What must go: the stretch between guillemets is replaced by the marker of the type, everything else stays."""

import re

import pytest

from afterturn.redact import Redactor
from tests.redact.fakes import ALNUM, HEX, KEYS, b64, jwt, made, pem

REDACTOR = Redactor()
GITHUB = KEYS["github-token"][0]
AWS_SECRET = made("", 40, ALNUM + "+/")
UUID = "84896a0c-1347-4a90-a4f6-aca8b7558780"
SHA = made("", 40, HEX)


def check(marked: str, *types: str) -> None:
    kinds = iter(types)
    text = marked.replace("\u00ab", "").replace("\u00bb", "")
    wanted = re.sub("\u00ab.*?\u00bb", lambda _: f"[REDACTED:{next(kinds)}]", marked, flags=re.DOTALL)
    got, counts = REDACTOR.redact(text)
    assert got == wanted
    assert counts == {kind: types.count(kind) for kind in set(types)}
    assert REDACTOR.redact(got) == (got, {})


@pytest.mark.parametrize(
    ("kind", "key"), [(kind, key) for kind, keys in KEYS.items() for key in keys], ids=lambda value: value[:24]
)
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "the key is {} as of today",
        "({})",
        '"{}",',
        "<b>{}</b>",
        "before\\n{}\\nafter",
        "path/{}/more",
        "\x1b[32m{}\x1b[0m",
        "a%20{}%20b",
        "one,{},two",
        "{}.",
        "\ud83d{}\udc00",
        "漢字{}かな",
    ],
    ids=range(13),
)
def test_a_key_is_found_by_its_form(kind: str, key: str, around: str) -> None:
    if around in ("{}.", "path/{}/more") and kind in DOT_OR_SLASH:
        around = around.replace("{}", "{} ")
    check(around.format(f"\u00ab{key}\u00bb"), kind)


@pytest.mark.parametrize("kind", ["github-token", "anthropic-key", "aws-access-key", "google-api-key", "slack-token"])
def test_a_key_is_found_when_glued_to_other_text(kind: str) -> None:
    check(f"abc\u00ab{KEYS[kind][0]}\u00bb", kind)


@pytest.mark.parametrize("head", ["AKIA", "ASIA", "ABIA"])
@pytest.mark.parametrize("around", ["{}", "id {}, next", "AWS_{}", '{{"a":"{}"}}', "before\\n{}\\nafter"])
def test_an_access_key_of_capitals_alone(head: str, around: str) -> None:
    check(around.format(f"\u00ab{head}QWERTZUIOPLKJHGF\u00bb"), "aws-access-key")


@pytest.mark.parametrize(
    "key", ["abc8Q~X.f3boNVuNsU.Rgy.2uS.B5Qj.UicU.J9Ja", "_~.7Q~abcd~efgh~ijkl~mnop~qrst~uvwx~yz12"]
)
@pytest.mark.parametrize("around", ["{}", "the secret is {} as of today", '["{}"]', "-" * 65_530 + " {} "])
def test_a_key_without_a_long_run(key: str, around: str) -> None:
    check(around.format(f"\u00ab{key}\u00bb"), "azure-secret")


def test_a_text_of_heads_is_read_once_and_not_from_each_of_them() -> None:
    """Read from each, this would take minutes."""
    check("\u00ab" + "8Q~" * 350_000 + "\u00bb", "azure-secret")


# Keys that may hold a dot or a slash, so that one behind them is taken for a part.
DOT_OR_SLASH = ("stripe-key", "azure-secret")
NAMED = [
    ("export API_TOKEN=«abc123def»", "token"),
    ("API_TOKEN=«swordfish»\nNEXT=1", "token"),
    ("DB_PASSWORD=«hunter2»", "password"),
    ("dbpass=«hunter2»", "password"),
    ("SMTPPASS: «hunter2»", "password"),
    ("DB_PASSWORD='«hunter2»'", "password"),
    ('DB_PASSWORD="«hun ter 2»" cmd', "password"),
    ("password=«hunter2»", "password"),
    ("password = «hunter2»", "password"),
    ("password: «hunter2»", "password"),
    ("password:«hunter2» trailing", "password"),
    ("db:\n  password: «swordfish»\n  host: x", "password"),
    ("user: bob\npasswd: «tr0ub4dor&3»\n", "password"),
    ('{"password": "«hunter2»", "user": "bob"}', "password"),
    ('{"password":"«p\\"w»","user":"bob"}', "password"),
    ('{"userPassword": "«x»"}', "password"),
    ("{'client_secret': '«s3cr3t-value»'}", "secret"),
    ('{\\"password\\": \\"«hunter2»\\", \\"a\\": 1}', "password"),
    ('{\\\\\\"token\\\\\\": \\\\\\"«abc123def»\\\\\\"}', "token"),
    ('"apiKey": "«a1b2c3d4e5f6»"', "api-key"),
    ("apiKey: '«a1b2c3d4e5f6»',", "api-key"),
    ("api_key=«a1b2c3d4e5f6»", "api-key"),
    ("api-key: «a1b2c3d4e5f6»", "api-key"),
    ("API key: «a1b2c3d4e5f6»", "api-key"),
    ("X-Api-Key: «a1b2c3d4e5f6»", "api-key"),
    ("x-auth-token: «a1b2c3d4e5f6»", "token"),
    ("const apiKey: string = '«a1b2c3d4e5f6»';", "api-key"),
    ('password: str = "«hunter2»"', "password"),
    ('os.environ["API_TOKEN"] = "«a1b2c3d4»"', "token"),
    ("process.env.API_TOKEN = '«a1b2c3d4»'", "token"),
    ("$env:API_TOKEN = '«a1b2c3d4»'", "token"),
    ("login(user='bob', password='«hunter2»')", "password"),
    ("login(user='bob', password=«hunter2»)", "password"),
    ("if password == '«hunter2»':", "password"),
    ('headers.set("X-Api-Key", "«a1b2c3d4e5f6»")', "api-key"),
    ("mysql --password «hunter2» -u root", "password"),
    ("mysql --password=«hunter2» -u root", "password"),
    ('["--api-key", "«a1b2c3d4»", "-v"]', "api-key"),
    ("sshpass -p «hunter2» ssh host", "password"),
    ("https://host/x?token=«abcdef»&page=2", "token"),
    ("GET /v1?key=«AIzaSECRET» HTTP/1.1", "api-key"),
    ("https://h/cb?access_token=«a1b2c3»#top", "token"),
    ("body=password%3D«hunter2»%26user%3Dbob", "password"),
    ("<password>«hunter2»</password>", "password"),
    ('<add key="DbPassword" value="«hunter2»" />', "password"),
    ("- name: DB_PASSWORD\n  value: «hunter2»\n", "password"),
    ('{"name": "API_TOKEN", "value": "«a1b2c3d4»"}', "token"),
    ("Server=db;User Id=sa;Password=«hunter2»;Encrypt=yes", "password"),
    ("AccountName=x;AccountKey=«" + b64("0123456789abcdef0123456789") + "»;", "api-key"),
    (f"aws_secret_access_key = «{AWS_SECRET}»", "aws-secret-key"),
    (f"AWS_SECRET_ACCESS_KEY=«{AWS_SECRET}»", "aws-secret-key"),
    (f'"SecretAccessKey": "«{AWS_SECRET}»"', "aws-secret-key"),
    (f"session_token: «{SHA}»", "token"),
    (f"secret_id=«{UUID}»", "secret"),
    ("SECRET_KEY_BASE=«" + SHA + "»", "secret"),
    ("passphrase: «correct-horse-battery-staple»\n", "password"),
    ("+DB_PASSWORD=«hunter2»\n", "password"),
    ("    12\tDB_PASSWORD=«hunter2»\n", "password"),
    ("line one\\nDB_PASSWORD=«hunter2»\\nline two", "password"),
    ("docker run -e DB_PASSWORD=«hunter2» image", "password"),
    ("ENV=prod TOKEN=«abc123def» ./run", "token"),
    ("password: «12345678»", "password"),
    ("SMTP_USER=x SMTP_PASS=«hunter2»", "password"),
    ("The new password is set. Password: «Tr0ub4dor&3»", "password"),
    ("refreshToken = `«a1b2c3d4e5»`", "token"),
    ("token: «" + made("", 32, HEX) + "»", "token"),
]
PLACED = [
    ("Authorization: Bearer «abc.def»", "bearer-token"),
    ("authorization: bearer «SECRET»\r\nHost: x", "bearer-token"),
    (f"Authorization: Basic «{b64('user:pass')}»", "basic-auth"),
    ("Authorization: token «abcdef0123»", "bearer-token"),
    ("Proxy-Authorization: Basic «" + b64("a:b") + "»", "basic-auth"),
    ("curl -H 'Authorization: Bearer «abcdef»' https://x", "bearer-token"),
    ('"Authorization": "Bearer «abcdef»"', "bearer-token"),
    ('{\\"authorization\\":\\"Bearer «abcdef»\\"}', "bearer-token"),
    ('headers["Authorization"] = "Bearer «abcdef»"', "bearer-token"),
    ("('Authorization', 'Bearer «abcdef»')", "bearer-token"),
    ("Authorization: «a1b2c3d4e5f6»", "authorization"),
    ('Authorization: Digest «username="bob", realm="x", response="0af"»\nHost: x', "authorization"),
    ("got Bearer «" + made("", 24) + "» from it", "bearer-token"),
    ("curl -u admin:«hunter2» https://x", "basic-auth"),
    ('curl --user "admin:«hunter2»" https://x', "basic-auth"),
    ("curl -b 'sid=«abc123»' https://x", "cookie"),
    ("Cookie: a=«1»; session=«abc»", "cookie", "cookie"),
    ("Set-Cookie: sid=«abc123»; Path=/; HttpOnly; Secure", "cookie"),
    ('"cookie": "sid=«abc123»; theme=«dark»"', "cookie", "cookie"),
    ('"set-cookie": ["sid=«abc123»; Path=/"]', "cookie"),
    ("postgres://app:«hunter2»@db:5432/x", "url-password"),
    ("postgresql+asyncpg://app:«p@ss»@db/x?ssl=1", "url-password"),
    ("redis://:«hunter2»@cache:6379/0", "url-password"),
    ("mongodb+srv://u:«p»@cluster0.x.net/db", "url-password"),
    ("https://bob:«hunter2»@git.example.com/r.git", "url-password"),
    ("mysql://u:«pa/ss»@h/db", "url-password"),
    ('DATABASE_URL="postgres://u:«hunter2»@h/db"', "url-password"),
    ("bob:«hunter2»@tcp(127.0.0.1:3306)/db", "url-password"),
    ("bob:«hun(ter=2»@tcp(127.0.0.1:3306)/db", "url-password"),
    (f"git remote add o https://«{GITHUB}»@github.com/o/r", "github-token"),
    (f"https://«{GITHUB}»:«x-oauth-basic»@github.com/o/r", "github-token", "url-password"),
    (f"curl -u «{GITHUB}»: https://x", "github-token"),
    (f"curl -u «{GITHUB}»:«x-oauth» https://x", "github-token", "basic-auth"),
    ("Cookie: a=$A; sid=«abc123»; b=***", "cookie"),
    ("curl -b 'a=«1»' -b 'b=«2»' https://x", "cookie", "cookie"),
    ("AZURE_STORAGE_KEY='«abc123def456»'", "secret"),
    ("jdbc:postgresql://h/db?user=u&password=«hunter2»", "password"),
    (f"a PRIVATE-TOKEN: «{GITHUB}»", "github-token"),
    (f'password="«{GITHUB}»"', "github-token"),
    (f"Authorization: Bearer «{jwt()}»", "jwt"),
    ("https://hooks.slack.com/services/«T01ABCDEF/B01ABCDEF/" + made("", 24) + "» ok", "slack-webhook"),
    ("https://discord.com/api/webhooks/123456789012345678/«" + made("", 68) + "»", "discord-webhook"),
    ("x?X-Amz-Expires=3600&X-Amz-Signature=«" + made("", 64, HEX) + "»&x=1", "signature"),
    ("//registry.npmjs.org/:_authToken=«" + made("np" + "m_", 36) + "»", "npm-token"),
    ("//registry/:_auth=«" + b64("user:password123") + "»", "basic-auth"),
    ('"auths": {"x": {"auth": "«' + b64("user:password123") + '»"}}', "basic-auth"),
]
KEY_BLOCKS = [
    f"before\n«{pem()}»\nafter",
    f"before\n«{pem('')}»\nafter",
    f"«{pem('OPENSSH ')}»",
    f"«{pem('EC ', 3)}»",
    "text «" + pem().replace("\n", "\\n") + "»\\n more",
    '"key": "«' + pem().replace("\n", "\\\\n") + '»\\\\n"',
    "«" + pem().replace("\n", "\r\n") + "»\r\nafter",
    "«" + pem().replace("\n", " ") + "» after",
    "k: |\n  «" + pem().replace("\n", "\n  ") + "»\nnext: 1",
    "+«" + pem().replace("\n", "\n+") + "»\n+next = 1",
    "     1\t«" + pem().replace("\n", "\n     2\t") + "»\n     3\tnext",
    "«" + pem().rsplit("\n", 1)[0] + "»",
    "«" + pem().rsplit("\n", 1)[0] + "»\n$ ls -l\nREADME",
    "«" + pem().rsplit("\n", 1)[0][:-30] + "»",
    "tail of it: «" + pem().split("\n", 3)[3] + "»\nafter",
    "«-----BEGIN RSA PRIVATE " + "KEY-----\nabc\n-----END RSA PRIVATE " + "KEY-----»\nafter",
    "«-----BEGIN RSA PRIVATE "
    + "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n"
    + pem().split("\n", 1)[1]
    + "»\nafter",
    "«" + pem("PGP ").replace("KEY-----", "KEY BLOCK-----") + "»",
    "@@ -1 +0 @@\n-«" + pem().replace("\n", "\n-") + "»\n context",
    f"«{pem()}»\n-----BEGIN CERTIFICATE-----\n" + b64("c" * 90),
]


@pytest.mark.parametrize("case", NAMED, ids=lambda case: case[0][:40])
def test_a_named_value_goes(case: tuple[str, ...]) -> None:
    check(case[0], *case[1:])


@pytest.mark.parametrize("case", PLACED, ids=lambda case: case[0][:40])
def test_a_value_in_a_header_url_or_command_goes(case: tuple[str, ...]) -> None:
    check(case[0], *case[1:])


@pytest.mark.parametrize("text", KEY_BLOCKS, ids=range(len(KEY_BLOCKS)))
def test_a_private_key_goes_whole(text: str) -> None:
    check(text, "private-key")
