-- Texts are stored as UTF-8 bytes that may hold lone surrogates, which the TEXT type cannot: every text column is a
-- BLOB. Columns said to be sealed hold one byte that names the packing, then the bytes (values.py).

-- Numbers that only grow: lease_token, erasures (deletions so far), scrubbed (deletions whose traces are wiped).
CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- A session that was deleted keeps its row, without anything but its numbers: so that they are never given again.
-- Its refs are those above ref_base; the ones up to ref_base are its parent's. Blocks likewise. severed: it was
-- deleted once, and sees nothing of its ancestors any more; its own forks still do.
CREATE TABLE sessions (
    session INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    project BLOB,
    parent INTEGER REFERENCES sessions (session),
    severed INTEGER NOT NULL DEFAULT 0,
    ref_base INTEGER NOT NULL DEFAULT 0,
    last_ref INTEGER NOT NULL DEFAULT 0,
    block_base INTEGER NOT NULL DEFAULT 0,
    last_block INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,
    known INTEGER NOT NULL DEFAULT 1,
    opened INTEGER NOT NULL DEFAULT 0,
    holds_raw INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    active_at INTEGER NOT NULL,
    read_at INTEGER NOT NULL DEFAULT 0,
    turn_state BLOB
);
CREATE INDEX sessions_to_expire ON sessions (max(active_at, read_at)) WHERE holds_raw = 1;

-- Content-addressed; data is sealed. A blob lives as long as a result refers to it.
CREATE TABLE blobs (
    blob INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    data BLOB NOT NULL
);

-- A result past its retention time keeps its row, without text, content, args and images (sealed).
CREATE TABLE results (
    result INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (session),
    ref INTEGER NOT NULL,
    identity BLOB NOT NULL,
    dedup BLOB NOT NULL,
    text INTEGER REFERENCES blobs (blob),
    content INTEGER REFERENCES blobs (blob),
    args BLOB,
    images BLOB,
    call_id BLOB NOT NULL,
    tool BLOB NOT NULL,
    is_error INTEGER NOT NULL,
    status BLOB,
    turn_index INTEGER NOT NULL,
    at INTEGER,
    entry_id BLOB,
    lossy INTEGER NOT NULL
);
CREATE UNIQUE INDEX results_ref ON results (session, ref);
-- Keys are random, and every page of an index that an intake touches is written to disk: eight bytes of each key keep
-- a session's part of an index to a page or a few. Queries compare the whole key besides.
CREATE INDEX results_identity ON results (session, substr(identity, 1, 8));
CREATE INDEX results_dedup ON results (session, substr(dedup, 1, 8), ref);
CREATE INDEX results_call ON results (session, substr(call_id, -8), ref);
CREATE INDEX results_text ON results (text) WHERE text IS NOT NULL;
CREATE INDEX results_content ON results (content) WHERE content IS NOT NULL;

-- What was frozen for a ref, by the session that froze it, which may see the ref from its parent. Text is sealed.
CREATE TABLE replacements (
    replacement INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (session),
    ref INTEGER NOT NULL,
    text BLOB NOT NULL,
    UNIQUE (session, ref)
);

-- The turn log: assistant_text, user_text and loose are sealed.
CREATE TABLE turns (
    turn INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (session),
    batch_id BLOB NOT NULL,
    turn_index INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    assistant_text BLOB,
    user_text BLOB,
    request_group INTEGER NOT NULL,
    due INTEGER NOT NULL DEFAULT 0,
    loose BLOB NOT NULL
);
CREATE INDEX turns_session ON turns (session);

-- phase 1: waits in a turn, at a position; 2: settled. A ref that is only archived has no row.
CREATE TABLE call_states (
    session INTEGER NOT NULL REFERENCES sessions (session),
    ref INTEGER NOT NULL,
    phase INTEGER NOT NULL,
    turn INTEGER REFERENCES turns (turn),
    position INTEGER,
    PRIMARY KEY (session, ref)
) WITHOUT ROWID;
CREATE INDEX call_states_turn ON call_states (turn) WHERE turn IS NOT NULL;

-- Frozen results; result and summary are sealed, refs are numbers with blanks between. top_ref: the highest ref that
-- the batch is about, which says in which forks it is in view.
CREATE TABLE batches (
    batch INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (session),
    key BLOB NOT NULL,
    batch_id BLOB NOT NULL,
    result BLOB NOT NULL,
    summary BLOB,
    refs TEXT NOT NULL,
    top_ref INTEGER NOT NULL,
    UNIQUE (session, key)
);

CREATE TABLE batch_refs (
    session INTEGER NOT NULL REFERENCES sessions (session),
    ref INTEGER NOT NULL,
    batch INTEGER NOT NULL REFERENCES batches (batch),
    PRIMARY KEY (session, ref, batch)
) WITHOUT ROWID;
CREATE INDEX batch_refs_batch ON batch_refs (batch);

-- Ids that hosts gave to batches, frozen or not; the highest `given` of a name was given last.
CREATE TABLE batch_names (
    session INTEGER NOT NULL REFERENCES sessions (session),
    name BLOB NOT NULL,
    key BLOB NOT NULL,
    given INTEGER NOT NULL,
    PRIMARY KEY (session, name, key)
) WITHOUT ROWID;

CREATE TABLE attempts (
    session INTEGER NOT NULL REFERENCES sessions (session),
    key BLOB NOT NULL,
    made INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (session, key)
) WITHOUT ROWID;

-- Text and details are sealed.
CREATE TABLE blocks (
    block INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (session),
    number INTEGER NOT NULL,
    key BLOB NOT NULL,
    text BLOB NOT NULL,
    details BLOB NOT NULL,
    source BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (session, number),
    UNIQUE (session, key)
);

-- Claims on work. place, pid and process_start name the process, so that its end frees the claim.
CREATE TABLE leases (
    kind TEXT NOT NULL,
    key BLOB NOT NULL,
    owner BLOB NOT NULL,
    token INTEGER NOT NULL,
    place TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_start TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID;
