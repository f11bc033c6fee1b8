"""Keys known by their form: provider prefixes, JSON Web Tokens, and what follows `Bearer` or the name of a signature.

Every form but AZURE has a stretch of at least RUN letters, digits, `_` and `-`, so a scan looks only at such runs, and
there only where the head of a form stands. A head that is also a part of words (`sk-`, `re_`) counts at the start of a
word alone.
"""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from afterturn.redact.clean import RUN as RUN
from afterturn.redact.span import BY_FORM, BY_PLACE, Span
from afterturn.redact.values import is_stand_in

# The head of a form stands in its run, or at most so many chars before it.
LEFT = 40


class Form(Struct, frozen=True):
    """One form of key.

    type: what the marker says. heads: literals, one of which every key of the form has, blank-separated. pattern: the
    whole key, group 1 the secret where not all of it is. glued: counts inside other letters too. back: how many chars
    before the head the key begins, where not at it. once: does it not fit at one head, it fits at no later one of the
    same run.
    """

    type: str
    heads: str
    pattern: str
    glued: bool = False
    back: tuple[int, ...] = ()
    once: bool = False


# The rest of a key that may have more parts behind dots; a dot at its end is the sentence's.
_DOTTED = r"[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]++)*+"
# Dots and `~` among its chars may leave no run.
AZURE = Form("azure-secret", "8Q~ 7Q~", r"[A-Za-z0-9_.~-]{3}\dQ~[A-Za-z0-9_.~-]{31,}+", glued=True, back=(3,))
# The first form that fits wins, so the longer head stands first.
_FORMS = (
    Form("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"gh[pousr]_[A-Za-z0-9]{{16}}{_DOTTED}", glued=True),
    Form("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{16,}+", glued=True),
    Form("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{8,}+", glued=True),
    Form("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-service-", r"sk-[a-z]{4,8}-[A-Za-z0-9_-]{12,}+", glued=True),
    Form("openai-key", "T3BlbkFJ", r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9_-]{16,}+", glued=True, back=(23,)),
    Form("openrouter-key", "sk-or-", r"sk-or-(?:v1-)?[A-Za-z0-9_-]{16,}+"),
    Form("langfuse-key", "sk-lf-", r"sk-lf-[A-Za-z0-9-]{20,}+"),
    Form(
        "openai-key", "sk-", r"sk-(?=[A-Za-z_-]{0,80}+\d)(?=[a-z0-9_-]{0,40}+[A-Z]|[A-Za-z0-9]{16})[A-Za-z0-9_-]{16,}+"
    ),
    Form("google-api-key", "AIza", r"AIza[A-Za-z0-9_-]{25,}+", glued=True),
    Form("google-oauth", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{16,}+", glued=True),
    Form("google-oauth", "ya29.", rf"ya29\.[A-Za-z0-9_-]{{20}}{_DOTTED}", glued=True),
    Form("google-oauth", "1//0", r"1//0[A-Za-z0-9_-]{30,}+"),
    Form("aws-access-key", "AKIA ASIA ABIA ACCA", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16,}+", glued=True),
    Form("aws-bedrock-key", "ABSK", r"ABSK[A-Za-z0-9+/=]{60,}+"),
    Form(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glagent- glimt- glffct- gloas-",
        rf"gl[a-z]{{2,5}}-[A-Za-z0-9_-]{{16}}{_DOTTED}",
        glued=True,
    ),
    Form("slack-token", "xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}+", glued=True),
    Form("slack-token", "xapp- xwfp-", r"x(?:app|wfp)-[A-Za-z0-9-]{15,}+", glued=True),
    Form("slack-webhook", "/services/", r"/services/(T\w{6,14}/B\w{6,14}/[A-Za-z0-9]{16,}+)", glued=True),
    Form("discord-webhook", "/webhooks/", r"/webhooks/\d{10,24}/([A-Za-z0-9_-]{20,}+)", glued=True),
    Form(
        "stripe-key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_",
        r"[sr]k_[a-z]{4}_[A-Za-z0-9]{10,}+",
        glued=True,
    ),
    Form("stripe-key", "whsec_", r"whsec_[A-Za-z0-9+/=_-]{14,}+", glued=True),
    Form("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,}+", glued=True),
    Form("pypi-token", "pypi-Ag", r"pypi-Ag[A-Za-z0-9_-]{16,}+", glued=True),
    Form("pypi-token", "pypi-", r"pypi-(?=[a-z0-9_-]{0,40}+[A-Z])(?=[A-Za-z_-]{0,40}+\d)[A-Za-z0-9_-]{16,}+"),
    Form("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,48}+(?![A-Za-z0-9_-])"),
    Form("huggingface-token", "api_org_", r"api_org_[A-Za-z0-9]{30,}+", glued=True),
    Form(  # signed, or encrypted with its key part empty
        "jwt",
        "eyJ",
        r"eyJ[A-Za-z0-9_-]{10,}+\.(?:[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]++){0,3}+|(?:\.[A-Za-z0-9_-]++){3})",
        glued=True,
        once=True,
    ),
    Form("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{16,}+", glued=True),
    Form("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[a-f0-9]{32,}+", glued=True),
    Form("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp[a-z]{2}_[A-Fa-f0-9]{24,}+", glued=True),
    Form("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,}+", glued=True),
    Form(  # before version 1.10; the member of an object has no such name
        "vault-token",
        "s.",
        r"s\.(?=[A-Za-z]{0,23}+\d)(?=[a-z0-9]{0,23}+[A-Z])(?=[A-Z0-9]{0,23}+[a-z])[A-Za-z0-9]{24}(?![\w(\[-])",
    ),
    Form("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}+", glued=True),
    Form("atlassian-token", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_=-]{40,}+", glued=True),
    Form("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_-]{20,}+", glued=True),
    Form("grafana-token", "glsa_", r"glsa_[A-Za-z0-9]{20,64}+_[a-f0-9]{8}", glued=True),
    Form("grafana-token", "glc_eyJ", r"glc_eyJ[A-Za-z0-9+/=]{20,}+", glued=True),
    Form("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}+", glued=True, back=(14,)),
    Form("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_-]{20,}+", glued=True),
    Form("supabase-key", "sb_secret_", r"sb_secret_[A-Za-z0-9_-]{20,}+", glued=True),
    Form("supabase-key", "sbp_", r"sbp_[a-f0-9]{40}", glued=True),
    Form("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?", glued=True),
    AZURE,
    Form("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{30,}+"),
    Form("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,}+"),
    Form("replicate-token", "r8_", r"r8_[A-Za-z0-9]{30,}+"),
    Form("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{30,}+"),
    Form("fireworks-key", "fw_", r"fw_(?=[a-z]{0,24}+[A-Z0-9])[A-Za-z0-9]{20,}+"),
    Form("together-key", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_-]{30,}+"),
    Form("nvidia-key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{30,}+"),
    Form("cerebras-key", "csk-", r"csk-[a-z0-9]{40,}+"),
    Form("langsmith-key", "lsv2_", r"lsv2_[a-z]{2}_[a-f0-9]{32}_[a-f0-9]{10}"),
    Form("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,}+"),
    Form("elevenlabs-key", "sk_", r"sk_[a-f0-9]{40,}+"),
    Form("tavily-key", "tvly-", r"tvly-[A-Za-z0-9_-]{20,}+"),
    Form("firecrawl-key", "fc-", r"fc-[a-f0-9]{32}"),
    Form("notion-token", "ntn_ secret_", r"(?:ntn|secret)_(?=[A-Za-z]{0,40}+\d)[A-Za-z0-9]{40,}+"),
    Form("linear-key", "lin_api_ lin_oauth_", r"lin_[a-z]{3,5}_[A-Za-z0-9]{32,}+"),
    Form("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{36,}+"),
    Form("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}+"),
    Form("mailgun-key", "key-", r"key-[a-f0-9]{32}(?![a-f0-9])"),
    Form("mailchimp-key", "-us", r"[a-f0-9]{32}-us[0-9]{1,2}(?![0-9])", glued=True, back=(32,)),
    Form("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}+"),
    Form("square-token", "sq0atp- sq0csp-", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}+"),
    Form("planetscale-key", "pscale_", r"pscale_[a-z]{2,5}_[A-Za-z0-9_.-]{30,}+"),
    Form("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{30,}+"),
    Form("heroku-key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{30,}+"),
    Form("fly-token", "fm1_ fm2_", r"fm[12]_[A-Za-z0-9+/=_]{40,}+"),
    Form("doppler-token", "dp.", r"dp\.[a-z]{2,5}\.[A-Za-z0-9_.]{36,}+"),
    Form("newrelic-key", "NRAK-", r"NRAK-[A-Z0-9]{20,}+"),
    Form("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{30,}+"),
    Form("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{40,}+"),
    Form("crates-token", "cio", r"cio(?=[A-Za-z]{0,31}+\d)[A-Za-z0-9]{32}\b"),
    Form("nuget-key", "oy2", r"oy2[a-z0-9]{43}\b"),
    Form("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{60,}+"),
    Form("sonar-token", "squ_ sqp_ sqa_", r"sq[upa]_[a-f0-9]{40}"),
    Form("tailscale-key", "tskey-", r"tskey-[a-z]{3,8}-[A-Za-z0-9-]{16,}+"),
    Form("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    Form("circleci-token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{30,}+"),
    Form("buildkite-token", "bkua_", r"bkua_[a-f0-9]{40}"),
    Form("contentful-token", "CFPAT-", r"CFPAT-[A-Za-z0-9_-]{40,}+"),
    Form("dropbox-token", "sl.", r"sl\.[A-Za-z0-9_-]{100,}+"),
    Form("posthog-key", "phx_", r"phx_[A-Za-z0-9]{30,}+"),
    Form("alibaba-key", "LTAI", r"LTAI[A-Za-z0-9]{16,26}(?![A-Za-z0-9])"),
    Form("facebook-token", "EAA", r"EAA[A-Z][A-Za-z0-9]{60,}+"),
    Form("mapbox-token", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,2048}+\.[A-Za-z0-9_-]{10,}+"),
    Form(
        "telegram-token",
        ":AA",
        r"(?:(?<![0-9])|(?<=%20))[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}+",
        glued=True,
        back=(10, 9, 8),
    ),
    Form(  # the first bytes of an OpenSSH key, and BEGIN lines of private keys, in base64
        "private-key",
        "b3BlbnNzaC1rZXktdjE LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRV LS0tLS1CRUdJTiBQUklWQVRFIEtFW "
        "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFW LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ",
        r"(?:b3Bl|LS0t)[A-Za-z0-9+/=]{40,}+",
        glued=True,
    ),
    Form("onepassword-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9_-]{20,}+"),
    Form(
        "bearer-token",
        "Bearer bearer BEARER",
        r"[Bb](?i:earer)(?:[ \t]|%20|\+){1,4}((?=[A-Za-z._~+/=-]{0,60}+\d)[A-Za-z0-9._~+/=-]{16,}+)",
    ),
    Form(
        "signature",
        "sig= Signature= signature=",
        r"(?i:sig(?:nature)?)=((?=[A-Za-z+/=_-]{0,60}+[\d%])[A-Za-z0-9%+/=_-]{16,}+)",
    ),
    Form("basic-auth", "_auth", r"_auth\s?=\s?\"?((?=[a-z0-9+/=]*[A-Z])[A-Za-z0-9+/=]{16,}+)", glued=True),
    Form("basic-auth", '"auth"', r"\"auth\":\s?\"((?=[a-z0-9+/=]*[A-Z])[A-Za-z0-9+/=]{16,}+)", glued=True),
)
_WORD_RUN = re.compile(r"[A-Za-z0-9_-]++")
_ESCAPE = re.compile(r"(?<=\\)(?:[nrtbfv]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|(?<=%)[0-9A-Fa-f]{2}|(?<=[\[;])\d{0,3}m")


def keys(text: str, start: int, end: int, done: list[int]) -> Iterator[Span]:
    """The keys whose head stands in `text[start:end]`, a stretch that holds runs.

    done: where the last key found by either kind of head ended; kept up to date.
    """
    failed: dict[str, int] = {}
    for kind, (pattern, before) in enumerate(((_glued(), 0), (_words(), 1))):
        at = max(start, done[kind]) - before
        while found := pattern.search(text, max(0, at), end):
            # The next head may begin inside this one: `xoxoxb-`.
            at = found.start() + 1
            if span := _fitting(text, found["head"], found.start("head"), failed):
                yield span
                done[kind] = span.end
                at = max(at, span.end - before)


def azure_secret(text: str, at: int) -> Span | None:
    """The secret whose head stands at `at`, whether there is a run in it or not."""
    head = text[at : at + 3]
    return _fitting(text, head, at, {}) if head in AZURE.heads.split() else None


def escaped_key(text: str, start: int) -> Span | None:
    """The key behind an escape that the run at `start` begins with: its last letter hides that a word begins."""
    escape = _ESCAPE.match(text, start)
    head = _word_heads().match(text, escape.end()) if escape else None
    return _fitting(text, head[0], head.start(), {}) if head else None


def _fitting(text: str, head: str, at: int, failed: dict[str, int]) -> Span | None:
    """The key of the form whose head stands at `at`. failed: up to where a form is known not to fit."""
    for form in _by_head()[head]:
        if failed.get(form.type, 0) > at:
            continue
        pattern = _compiled(form.pattern)
        for back in form.back or (0,):
            if (found := pattern.match(text, at - back)) and back <= at:
                group = pattern.groups
                if is_stand_in(found[group]):
                    return None
                # Where only a part is the secret, it is its place that says so, and a key in that place says more.
                rank = BY_PLACE if group else BY_FORM
                return Span(found.start(group), found.end(group), rank, form.type)
        if form.once and (run := _WORD_RUN.match(text, at)):
            failed[form.type] = run.end()
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _by_head() -> dict[str, tuple[Form, ...]]:
    result: dict[str, tuple[Form, ...]] = {}
    for form in _FORMS:
        for head in form.heads.split():
            result[head] = (*result.get(head, ()), form)
    return result


@cache
def _glued() -> re.Pattern[str]:
    return re.compile(f"(?P<head>{_trie([head for form in _FORMS if form.glued for head in form.heads.split()])})")


@cache
def _word_heads() -> re.Pattern[str]:
    return re.compile(_trie([head for form in _FORMS if not form.glued for head in form.heads.split()]))


@cache
def _words() -> re.Pattern[str]:
    # The char before a word, not a look behind: the engine then skips to it by its class.
    return re.compile(rf"(?:[^A-Za-z0-9]|\A)(?P<head>{_word_heads().pattern})")


def _trie(heads: list[str]) -> str:
    """One pattern for all heads, the longest first, that looks at a char once; a flat list of them is 10 x slower."""
    tails: dict[str, list[str]] = {}
    for head in heads:
        tails.setdefault(head[:1], []).append(head[1:])
    ends = tails.pop("", None)
    branches = [re.escape(char) + _trie(rest) for char, rest in tails.items()]
    if not branches:
        return ""
    one = branches[0] if len(branches) == 1 else "(?:" + "|".join(branches) + ")"
    return f"(?:{one})?" if ends else one
