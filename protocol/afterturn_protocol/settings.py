"""The settings tree: every key of the settings file, of `initializationOptions` and of didChangeConfiguration.

Keys and defaults are those of condense.md, recap.md, capture.md ('Options'), models.md and store.md ('Redaction').
A bad key falls to its default alone, so a loader checks key by key: the field's type, and CHOICES where it is listed.
"""

from typing import Annotated

from msgspec import Meta, field

from afterturn_protocol.shape import Count, Shape

Positive = Annotated[int, Meta(ge=1, le=2**63 - 1)]
"""A whole number of at least 1."""

Fraction = Annotated[float, Meta(gt=0, le=1)]
"""A part of a whole, above 0 and at most 1."""

Seconds = Annotated[float, Meta(ge=0, le=604_800)]
"""A length of time in s, at most a week: more is a mistake."""

CHOICES: dict[str, tuple[str, ...]] = {
    "condense.fallback": ("extractive", "none"),
    "condense.pruneOn": ("agent-message", "on-demand"),
    "condense.batchingMode": ("turn", "agent-message"),
    "condense.reasoning": ("off", "default"),
    "recap.fallback": ("facts", "none"),
    "capture.granularity": ("turn", "tool"),
    "capture.batchMode": ("auto", "per_step", "per_episode"),
    "capture.reflectionContextMode": ("task", "task_downstream"),
    "capture.longEpisodeReflectMode": ("per_step_parallel", "per_step_downstream"),
    "capture.resultDetail": ("full", "ids"),
    "models.provider": ("auto", "host", "litellm", "none"),
    "embeddings.provider": ("local", "litellm", "none"),
}
"""The keys that take one of a few words, and the words; any other is a problem that is reported."""


class CondenseSettings(Shape, frozen=True, kw_only=True, omit_defaults=False):
    """Settings `condense.*` (condense.md, 'Options').

    enabled: off means archive and resolve work, and nothing is summarised.
    model: "provider/id"; null means `models.model`.
    fallback: when a model fails.
    prune_on: when waiting calls are condensed.
    batching_mode: what makes one batch.
    min_batch_chars: less text than this is left alone, in chars; 0 turns the check off.
    dedup_by_content_hash: replace a repeated result by a pointer to the first.
    protected_tools: tool names left verbatim, exact or with `*`.
    protected_paths: globs of paths left verbatim.
    spill_threshold: results from this size on are replaced at once, in chars.
    spill_preview_bytes: size of their preview, in bytes.
    auto_budget_threshold: fraction of the context window at which condensing starts; null is off.
    budget_turn_delta: growth since the last turn, as a fraction of the window, at which it starts; null is off.
    max_attempts: model attempts for one batch.
    concurrency: batches worked on at once in the background.
    reasoning: whether the model may reason.
    recovery_tool_name: the host's tool that brings originals back.
    idle_timeout_ms: a model that sends nothing for so long has failed, in ms.
    total_timeout_ms: limit for a model call that a request waits for, in ms.
    background_timeout_ms: limit for a model call in the background, in ms.
    """

    enabled: bool = True
    model: str | None = None
    fallback: str = "extractive"
    prune_on: str = "agent-message"
    batching_mode: str = "turn"
    min_batch_chars: Count = 1000
    dedup_by_content_hash: bool = True
    protected_tools: tuple[str, ...] = ()
    protected_paths: tuple[str, ...] = ("**/skills/**/*.md",)
    spill_threshold: Positive = 65536
    spill_preview_bytes: Count = 2048
    auto_budget_threshold: Fraction | None = None
    budget_turn_delta: Fraction | None = None
    max_attempts: Positive = 3
    concurrency: Positive = 2
    reasoning: str = "off"
    recovery_tool_name: str = "context_tree_query"
    idle_timeout_ms: Positive = 20000
    total_timeout_ms: Positive = 45000
    background_timeout_ms: Positive = 180000


class RecapSettings(Shape, frozen=True, kw_only=True, omit_defaults=False):
    """Settings `recap.*` (recap.md, 'Options').

    auto: draft by itself, for a client that can show a recap.
    away_seconds: continuous blur before a draft, in s; less than 5 counts as 5.
    idle_seconds: quiet time before a draft where focus is not reported, in s; less than 5 counts as 5.
    focus_reporting: false takes the client as one that does not report focus.
    during_active: draft also while the agent works.
    model: "provider/id"; null means the cheap sibling of the session's model.
    fallback: what is shown without a model.
    max_chars: size of a recap, in chars.
    max_prompt_chars: size of the prompt, in chars.
    timeout_ms: limit for the model call, in ms.
    explain: send recap.skipped for every decision not to draft.
    """

    auto: bool = True
    away_seconds: Seconds = 90
    idle_seconds: Seconds = 120
    focus_reporting: bool = True
    during_active: bool = False
    model: str | None = None
    fallback: str = "facts"
    max_chars: Positive = 400
    max_prompt_chars: Positive = 48000
    timeout_ms: Positive = 30000
    explain: bool = False


class CaptureSettings(Shape, frozen=True, kw_only=True, omit_defaults=False):
    """Settings `capture.*` (capture.md, 'Options').

    enabled: capture episodes at all.
    model: "provider/id"; null means `models.model`.
    capture_abandoned: capture episodes that were abandoned too.
    granularity: one step for a turn, or one for each tool call.
    max_text_chars: longest text kept, in chars.
    max_tool_output_chars: longest tool output kept, in chars.
    embed_traces: make vectors.
    alpha_scoring: have a model score reflections.
    synth_reflections: have a model write missing reflections.
    llm_concurrency: model calls at once for one episode.
    batch_mode: one model call for an episode, or one for each step.
    batch_threshold: with "auto", the most steps that go into one call.
    reflection_context_mode: whether a step's prompt shows the steps after it.
    long_episode_reflect_mode: how a long episode's steps are scored.
    downstream_step_count: how many later steps are shown, at most 3.
    task_context_max_chars: size of the task's part of a prompt, in chars.
    downstream_context_max_chars: size of the later steps' part, in chars.
    downstream_per_step_max_chars: size of one later step, in chars.
    outcome_max_chars: size of the outcome's part, in chars.
    max_llm_calls_per_episode: most model calls for one episode.
    lease_seconds: how long a job is held without a sign of life, in s.
    max_queued_jobs: most unfinished jobs of one session.
    result_detail: whether capture.done carries whole traces or only their ids.
    """

    enabled: bool = True
    model: str | None = None
    capture_abandoned: bool = True
    granularity: str = "turn"
    max_text_chars: Positive = 4000
    max_tool_output_chars: Positive = 2000
    embed_traces: bool = True
    alpha_scoring: bool = True
    synth_reflections: bool = False
    llm_concurrency: Positive = 4
    batch_mode: str = "auto"
    batch_threshold: Count = 12
    reflection_context_mode: str = "task"
    long_episode_reflect_mode: str = "per_step_parallel"
    downstream_step_count: Annotated[int, Meta(ge=0, le=3)] = 3
    task_context_max_chars: Count = 800
    downstream_context_max_chars: Count = 1200
    downstream_per_step_max_chars: Count = 400
    outcome_max_chars: Count = 600
    max_llm_calls_per_episode: Count = 128
    lease_seconds: Positive = 30
    max_queued_jobs: Positive = 1000
    result_detail: str = "full"


class ModelsSettings(Shape, frozen=True, kw_only=True, omit_defaults=False):
    """Settings `models.*` (models.md, 'Completers').

    provider: who completes; "auto" takes the host if it offers, else litellm if a model is set, else none.
    model: "provider/id", the default of all three jobs.
    api_base: URL of an endpoint that is not the provider's own.
    api_key_env: name of the environment variable that holds the key; never the key.
    headers: extra HTTP headers.
    fallback_model: "provider/id", used while the configured model is down.
    concurrency: model calls in flight at once, over all jobs.
    daily_tokens: tokens a day, over all sidecars on the store.
    daily_cost_usd: US dollars a day; null is no limit.
    session_tokens: tokens a session; null is no limit.
    worker_idle_seconds: the model worker ends after this much idle time, in s.
    """

    provider: str = "auto"
    model: str | None = None
    api_base: str | None = None
    api_key_env: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    fallback_model: str | None = None
    concurrency: Positive = 2
    daily_tokens: Count = 2_000_000
    daily_cost_usd: Annotated[float, Meta(ge=0)] | None = None
    session_tokens: Count | None = None
    worker_idle_seconds: Positive = 120


class EmbeddingsSettings(Shape, frozen=True, kw_only=True, omit_defaults=False):
    """Settings `embeddings.*` (models.md, 'Embedders').

    provider: who embeds.
    model: null means the provider's default.
    api_base: URL of an endpoint that is not the provider's own.
    api_key_env: name of the environment variable that holds the key; never the key.
    """

    provider: str = "local"
    model: str | None = None
    api_base: str | None = None
    api_key_env: str | None = None


class StoreSettings(Shape, frozen=True, kw_only=True, omit_defaults=False):
    """Settings `store.*` (models.md, store.md).

    url: of a database server; null means the embedded store.
    path: file of the embedded store; null means the user's data folder.
    raw: keep originals as they came; false keeps their redacted form only.
    retention_days: how long originals are kept after their session's last activity, in days.
    outbox_days: how long durable events can be read again, in days.
    """

    url: str | None = None
    path: str | None = None
    raw: bool = True
    retention_days: Positive = 30
    outbox_days: Positive = 7


class RedactionSettings(Shape, frozen=True, kw_only=True, omit_defaults=False):
    """Settings `redaction.*` (store.md, 'Redaction').

    enabled: replace secrets in everything but the originals.
    extra_patterns: more regular expressions whose matches are replaced.
    """

    enabled: bool = True
    extra_patterns: tuple[str, ...] = ()


class Settings(Shape, frozen=True, kw_only=True, omit_defaults=False):
    """All settings. Every key may be omitted.

    condense: of condensing.
    recap: of recaps.
    capture: of capture.
    models: of completion.
    embeddings: of embedding.
    store: of the store.
    redaction: of redaction.
    """

    condense: CondenseSettings = CondenseSettings()
    recap: RecapSettings = RecapSettings()
    capture: CaptureSettings = CaptureSettings()
    models: ModelsSettings = ModelsSettings()
    embeddings: EmbeddingsSettings = EmbeddingsSettings()
    store: StoreSettings = StoreSettings()
    redaction: RedactionSettings = RedactionSettings()
