"""A session that tries to get out of the page it is shown on."""

from tests.replay.sessions import PiSession, log

MARKUP = (
    "</script></pre></title></style><script>window.pwned = 1</script>"
    "<img src=x onerror='window.pwned = 2'><svg onload=window.pwned=3>"
    "\"'><iframe src=https://example.com></iframe> {{ 7 * 7 }} {% raw %} <!-- ]]> &lt;"
)


def hostile() -> PiSession:
    """Every text of it is markup: requests, replies, tool names, args, results, ids and the folder."""
    session = PiSession(session_id=MARKUP, cwd=f"/home/{MARKUP}")
    for number in range(3):
        session.user(f"{MARKUP} {number}")
        session.calls((f"read{MARKUP}", {"path": MARKUP, MARKUP: MARKUP}, f"{MARKUP}\n" + log(f"x{number}")))
        session.says(f"Reasoning: {MARKUP} because it is so, as everybody can see.\n{MARKUP}").later(600)
    return session
