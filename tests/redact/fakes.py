"""Made-up secrets, put together from parts so that no scanner of this repository takes them for real ones."""

import base64
import random
import string

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
UPPER = string.ascii_uppercase + "234567"


def made(head: str, length: int, alphabet: str = ALNUM) -> str:
    """`head` and `length` chars that are the same at every run; the last two are a letter and a digit."""
    rest = random.Random(f"{head}{length}").choices(alphabet, k=length - 2)
    return head + "".join(rest) + ("A7" if "A" in alphabet else "a7")


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def jwt(payload: str = '{"sub":"1234567890","name":"someone"}') -> str:
    parts = ['{"alg":"HS256","typ":"JWT"}', payload]
    return ".".join([base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts] + [made("", 43)])


def pem(kind: str = "RSA ", rows: int = 12) -> str:
    body = base64.b64encode(random.Random(kind).randbytes(rows * 48 - 7)).decode()
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return "\n".join(
        ["-----BEGIN " + kind + "PRIVATE " + "KEY-----", *lines, "-----END " + kind + "PRIVATE " + "KEY-----"]
    )


# type: examples.
KEYS: dict[str, list[str]] = {
    "openai-key": [
        made("sk" + "-", 48),
        made("sk" + "-proj-", 120, URLSAFE),
        made("sk" + "-svcacct-", 60, URLSAFE),
        "sk" + "-" + made("", 20) + "T3Blbk" + "FJ" + made("", 20),
    ],
    "anthropic-key": [made("sk" + "-ant-api03-", 93, URLSAFE) + "AA", made("sk" + "-ant-", 20)],
    "openrouter-key": [made("sk" + "-or-v1-", 64, HEX)],
    "google-api-key": [made("AI" + "za", 35, URLSAFE)],
    "google-oauth": [made("GOC" + "SPX-", 28, URLSAFE), made("ya" + "29.", 120, URLSAFE)],
    "aws-access-key": [made("AK" + "IA", 16, UPPER), made("AS" + "IA", 16, UPPER)],
    "github-token": [
        *(made(f"gh{kind}_", 36) for kind in "pousr"),
        made("github" + "_pat_", 22) + "_" + made("", 59),
        "gh" + "p_" + "a" * 36,
    ],
    "gitlab-token": [made("gl" + "pat-", 20, URLSAFE), made("gl" + "rt-", 20, URLSAFE)],
    "slack-token": [
        "xo" + "xb-1234567890-1234567890123-" + made("", 24),
        "xo" + "xp-1234567890-1234567890-" + made("", 32, HEX),
        "xa" + "pp-1-A012345-" + made("", 32, HEX),
    ],
    "stripe-key": [
        made("sk" + "_live_", 24),
        made("rk" + "_live_", 24),
        made("wh" + "sec_", 32),
        made("sk" + "_test_", 24),
    ],
    "npm-token": [made("np" + "m_", 36)],
    "pypi-token": [made("py" + "pi-AgEIcHlwaS5vcmc", 120, URLSAFE)],
    "huggingface-token": [made("h" + "f_", 34)],
    "jwt": [jwt(), jwt('{"sub":"x"}')],
    "sendgrid-key": [made("S" + "G.", 22, URLSAFE) + "." + made("", 43, URLSAFE)],
    "digitalocean-token": [made("do" + "p_v1_", 64, HEX)],
    "shopify-token": [made("sh" + "pat_", 32, HEX)],
    "vault-token": [made("hv" + "s.", 90, URLSAFE)],
    "docker-token": [made("dckr" + "_pat_", 27, URLSAFE)],
    "grafana-token": [made("gl" + "sa_", 32) + "_" + made("", 8, HEX)],
    "databricks-token": [made("da" + "pi", 32, HEX)],
    "groq-key": [made("gs" + "k_", 52)],
    "xai-key": [made("xa" + "i-", 80)],
    "replicate-token": [made("r" + "8_", 37)],
    "perplexity-key": [made("pp" + "lx-", 48)],
    "nvidia-key": [made("nv" + "api-", 64, URLSAFE)],
    "linear-key": [made("lin" + "_api_", 40)],
    "notion-token": [made("nt" + "n_", 46)],
    "figma-token": [made("fi" + "gd_", 40, URLSAFE)],
    "mailgun-key": [made("ke" + "y-", 32, HEX)],
    "mailchimp-key": [made("", 32, HEX) + "-us" + "12"],
    "telegram-token": ["123456789:" + "AA" + made("", 33, URLSAFE)],
    "postman-key": [made("PM" + "AK-", 24, HEX) + "-" + made("", 34, HEX)],
    "tailscale-key": [made("ts" + "key-auth-", 30)],
    "terraform-token": [made("", 14) + ".atlas" + "v1." + made("", 60)],
    "azure-secret": [made("", 3) + "8" + "Q~" + made("", 34)],
}
