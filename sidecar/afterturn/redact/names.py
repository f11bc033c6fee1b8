"""Names: does an identifier say that its value is a secret, and of which type.

A name is read as words (`dbPassword`, `DB_PASSWORD`, `db-password`), the last secret word decides, and what follows it
may say that the value only describes the secret (`token_url`, `password_min_length`, `maxTokens`).
"""

import re

PASSWORD = "password"
TOKEN = "token"
API_KEY = "api-key"
SECRET = "secret"
AWS_SECRET_KEY = "aws-secret-key"
AUTHORIZATION = "authorization"
COOKIE = "cookie"


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a text."""
    return frozenset(text.split())


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_TERMS = {
    "password": PASSWORD,
    "passwords": PASSWORD,
    "passwd": PASSWORD,
    "passphrase": PASSWORD,
    "passcode": PASSWORD,
    "passwort": PASSWORD,
    "requirepass": PASSWORD,
    "storepass": PASSWORD,
    "keypass": PASSWORD,
    "pwd": PASSWORD,
    "token": TOKEN,
    "secret": SECRET,
    "secrets": SECRET,
    "credential": SECRET,
    "credentials": SECRET,
    "authorization": AUTHORIZATION,
    "cookie": COOKIE,
    "cookies": COOKIE,
}
# Words written together end in one of these: `accesstoken`, `dbpassword`.
_ENDINGS = ("password", "passwd", "passphrase", "secret", "token")
_JOINED_KEYS = ("apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey", "masterkey", "signingkey")

_API_KEYS = word_set(
    "api app application account auth access subscription license service role deploy admin rest developer dev "
    "openai anthropic gemini google github gitlab slack stripe sendgrid mailgun twilio azure openrouter groq mistral "
    "cohere deepseek huggingface datadog sentry algolia supabase firebase cloudflare openweather maps functions"
)
_SECRET_KEYS = word_set(
    "private secret encryption encrypt decryption signing sign signature master shared hmac jwt aes root"
)
_PASS_OWNERS = word_set(
    "db database smtp mail email mysql mariadb postgres pg redis mongo user admin root ftp ssh login auth account "
    "proxy ldap rabbitmq amqp http basic my sudo key keystore truststore store cert vault wifi vnc imap"
)
_TOKENS_OWNERS = word_set("auth access api refresh bearer session id device")

_HEADER_WORDS = word_set("proxy http x n set session auth")

# After the secret word: the value describes the secret.
_DESCRIBES = word_set(
    "url uri endpoint path file filename dir directory folder name names id ids type types kind count counts length "
    "len limit limits size ttl expiry expires expire expired expiration timeout lifetime field fields input label "
    "hint policy rule rules regex pattern min max minimum maximum required enabled disabled valid invalid age usage "
    "used budget format index idx pos position offset provider manager store source ref arn version class error "
    "errors message msg status state stats rate cost price per at in on date time issuer scopes scope header text "
    "strength exists changed env var variable prompt title description desc help algorithm alg method mode "
    "placeholder ring reset rotation created updated key keys attempt attempts auth dict obj object data list map "
    "object data list map model table response request client helper util utils factory builder service handler "
    "config settings options params "
    "info view form spec schema counter bucket prefix suffix param domain alias reference profile mgr stdin"
)
# Before the secret word: the value is a count, a flag, or a token of another trade (paging, language models, LSP).
_OTHER_TRADE = word_set(
    "max min num number n total count has is no use uses using without show hide forgot next page continuation "
    "cursor sync eos bos pad unk cls sep mask stop special prompt completion input output cached reasoning thinking "
    "per done result progress cancel cancellation start end first last current previous prev peek expected "
    "unexpected public primary foreign sort partition cache"
)


def words(name: str) -> list[str]:
    """The words of a name, in lower case."""
    return [word.lower() for word in _WORD.findall(name)]


def secret_type(name: str) -> str | None:
    """The type of secret that a value of this name is, or None where the name says no secret."""
    if name in ("PWD", "OLDPWD"):  # the shell's folder
        return None
    parts = _parted(words(name))
    for at in range(len(parts) - 1, -1, -1):
        found = _term(parts, at)
        if found:
            return found if _holds(parts, at, found) else None
    return None


def _parted(parts: list[str]) -> list[str]:
    """`accesstoken` as two words, `apikey` and `dbpass` too."""
    result: list[str] = []
    for word in parts:
        if word.endswith(_ENDINGS) and word not in _ENDINGS:
            ending = next(end for end in _ENDINGS if word.endswith(end))
            result += (word[: -len(ending)], ending)
        elif word.removesuffix("s") in _JOINED_KEYS:
            result += (word.removesuffix("s")[:-3], "key")
        elif word.endswith("pass") and word[:-4] in _PASS_OWNERS and word not in _TERMS:
            result += (word[:-4], "pass")
        else:
            result.append(word)
    return result


def _term(parts: list[str], at: int) -> str | None:
    word = parts[at]
    before = parts[at - 1] if at else ""
    if word in ("key", "keys"):
        if before in _API_KEYS:
            return AWS_SECRET_KEY if parts[max(0, at - 2) : at] == ["secret", "access"] else API_KEY
        if before in _SECRET_KEYS or parts[max(0, at - 2) : at] == ["azure", "storage"]:
            return AWS_SECRET_KEY if "aws" in parts else SECRET
        return None
    if word == "pass":
        return PASSWORD if before in _PASS_OWNERS else None
    if word == "tokens":
        return TOKEN if before in _TOKENS_OWNERS else None
    return _TERMS.get(word)


def _holds(parts: list[str], at: int, found: str) -> bool:
    after = parts[at + 1 :]
    if found in (AUTHORIZATION, COOKIE):  # as the name of a header, not of a variable about it
        return not after and all(word in _HEADER_WORDS for word in parts[:at])
    if after == ["id"] and found == SECRET:  # the secret half of a Vault AppRole
        return True
    return not _DESCRIBES.intersection(after) and (at == 0 or parts[at - 1] not in _OTHER_TRADE)
