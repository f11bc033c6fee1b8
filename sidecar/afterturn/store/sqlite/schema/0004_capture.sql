-- What scopes searches: a project's name, or a session that has none. name: "p" and the project, or "s" and the
-- session's id. changed, rebuilt: the number of the last change of its vectors, and of the last that took some away.
CREATE TABLE projects (
    project INTEGER PRIMARY KEY,
    name BLOB NOT NULL UNIQUE,
    changed INTEGER NOT NULL DEFAULT 0,
    rebuilt INTEGER NOT NULL DEFAULT 0
);

-- Who accepted or holds jobs. gave_up: it ended and said so.
CREATE TABLE sidecars (
    sidecar INTEGER PRIMARY KEY,
    owner BLOB NOT NULL UNIQUE,
    place TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_start TEXT NOT NULL,
    gave_up INTEGER NOT NULL DEFAULT 0,
    seen_at INTEGER NOT NULL
);

CREATE TABLE episodes (
    episode INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (session),
    id BLOB NOT NULL,
    project INTEGER NOT NULL REFERENCES projects (project),
    revision INTEGER NOT NULL,
    trace_ids BLOB,
    UNIQUE (session, id)
);
CREATE INDEX episodes_id ON episodes (id);
CREATE INDEX episodes_project ON episodes (project);

-- state: queued, running, done, doneEmpty, failed. sidecar accepted it, holder runs it; a finished job has neither.
-- episode is null where it was deleted. outcome: sealed JSON of the result without its traces, or of the error.
CREATE TABLE capture_jobs (
    job INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (session),
    episode INTEGER REFERENCES episodes (episode),
    episode_id BLOB NOT NULL,
    revision INTEGER NOT NULL,
    hash BLOB,
    state TEXT NOT NULL,
    sidecar INTEGER REFERENCES sidecars (sidecar),
    holder INTEGER REFERENCES sidecars (sidecar),
    with_completer INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL DEFAULT 0,
    token INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    stage BLOB,
    seq INTEGER,
    full INTEGER NOT NULL DEFAULT 1,
    outcome BLOB
);
CREATE INDEX capture_jobs_open ON capture_jobs (sidecar, job) WHERE state IN ('queued', 'running');
CREATE INDEX capture_jobs_queue ON capture_jobs (session) WHERE state IN ('queued', 'running');
CREATE INDEX capture_jobs_held ON capture_jobs (holder) WHERE holder IS NOT NULL;
CREATE INDEX capture_jobs_episode ON capture_jobs (episode, revision) WHERE episode IS NOT NULL;
CREATE INDEX capture_jobs_deleted ON capture_jobs (job) WHERE episode IS NULL;

-- What a job works on, sealed. Apart from the job, since every change of a row writes all of it; it goes when nothing
-- can need it any more.
CREATE TABLE capture_sources (
    job INTEGER PRIMARY KEY REFERENCES capture_jobs (job),
    options BLOB NOT NULL,
    snapshot BLOB NOT NULL
);

CREATE TABLE idempotency_keys (
    session INTEGER NOT NULL REFERENCES sessions (session),
    key BLOB NOT NULL,
    episode INTEGER NOT NULL REFERENCES episodes (episode),
    hash BLOB NOT NULL,
    PRIMARY KEY (session, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_keys_episode ON idempotency_keys (episode);

-- seq grows in the order of commits. What an event says is in its job, and in the rows of traces.
CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    job INTEGER NOT NULL REFERENCES capture_jobs (job),
    session INTEGER NOT NULL REFERENCES sessions (session),
    project INTEGER REFERENCES projects (project),
    at INTEGER NOT NULL
);
CREATE INDEX outbox_job ON outbox (job);

CREATE TABLE score_memo (
    episode INTEGER NOT NULL REFERENCES episodes (episode),
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (episode, key)
) WITHOUT ROWID;

CREATE TABLE embedders (
    embedder INTEGER PRIMARY KEY,
    model BLOB NOT NULL,
    dimension INTEGER NOT NULL,
    UNIQUE (model, dimension)
);

-- body: sealed JSON of the whole trace; the columns that stand beside it win over what it says. vectors: 1 summary,
-- 2 action. embed_tries: how often vectors that are due could not be made; null where none are.
CREATE TABLE traces (
    trace INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    episode INTEGER NOT NULL REFERENCES episodes (episode),
    session INTEGER NOT NULL REFERENCES sessions (session),
    project INTEGER NOT NULL REFERENCES projects (project),
    step_index INTEGER NOT NULL,
    ts INTEGER NOT NULL,
    superseded INTEGER NOT NULL DEFAULT 0,
    indexed INTEGER NOT NULL DEFAULT 0,
    vectors INTEGER NOT NULL DEFAULT 0,
    embedder INTEGER REFERENCES embedders (embedder),
    embed_tries INTEGER,
    value REAL NOT NULL,
    r_human REAL,
    priority REAL NOT NULL,
    content BLOB NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX traces_episode ON traces (episode, step_index);
CREATE INDEX traces_session ON traces (session, ts);
CREATE INDEX traces_project ON traces (project, ts);
CREATE INDEX traces_unindexed ON traces (trace) WHERE indexed = 0 AND superseded = 0;
CREATE INDEX traces_unembedded ON traces (trace) WHERE embed_tries IS NOT NULL;
CREATE INDEX traces_embedded ON traces (embedder) WHERE embedder IS NOT NULL;

-- Little-endian float32; vector is twice the trace, and one more for the action.
CREATE TABLE vectors (
    vector INTEGER PRIMARY KEY,
    data BLOB NOT NULL
);

-- The signs of the vectors, one bit a component: what a search scans, small enough to be held in memory.
CREATE TABLE vector_bits (
    project INTEGER NOT NULL REFERENCES projects (project),
    trace INTEGER NOT NULL REFERENCES traces (trace),
    changed INTEGER NOT NULL,
    embedder INTEGER NOT NULL REFERENCES embedders (embedder),
    summary BLOB,
    action BLOB,
    PRIMARY KEY (project, trace)
) WITHOUT ROWID;
CREATE INDEX vector_bits_trace ON vector_bits (trace);
CREATE INDEX vector_bits_changed ON vector_bits (project, changed);

-- What stands in the full-text index, as it stands there (sealed; what is said, a line end, what is seen), because it
-- can only be taken out with the same words. trace is null where the trace is gone or has other words now: such a
-- document is taken out next.
CREATE TABLE documents (
    document INTEGER PRIMARY KEY,
    trace INTEGER REFERENCES traces (trace),
    project INTEGER NOT NULL,
    words BLOB NOT NULL
);
CREATE INDEX documents_trace ON documents (trace);

-- Words are made by words.py; the tokenizer only splits at blanks. scope: one word that names the project.
CREATE VIRTUAL TABLE trace_text USING fts5 (
    scope, said, seen, content = '', tokenize = "ascii tokenchars '_./-:@#+'"
);
