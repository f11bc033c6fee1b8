"""The scripted provider as a process: 40 words a reply, at once."""

from bench.models.talk import asked, say
from tests.provider.answers import says
from tests.provider.server import ScriptedProvider

with ScriptedProvider() as provider:
    provider.otherwise = says("word " * 40)
    say(url=provider.url)
    for _ in asked():
        pass
