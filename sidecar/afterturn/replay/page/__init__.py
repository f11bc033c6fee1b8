"""The report as one self-contained HTML page: no request, no foreign script, every text escaped."""

from afterturn.replay.page.views import MOST_TRACES as MOST_TRACES
from afterturn.replay.page.writing import PageError as PageError
from afterturn.replay.page.writing import PageFile as PageFile
