-- One row for each model call of any sidecar. Reserved before it is made: place, pid and process_start name the process
-- that makes it, and are null once it is settled. day: days since 1970, UTC. session: a hash of its id. The figures of
-- use are null where nobody knows them; tokens and money are what counts against the limits, prompt_tokens the
-- estimated part of it that stands when the process ends without settling.
CREATE TABLE model_calls (
    call INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    day INTEGER NOT NULL,
    session BLOB NOT NULL,
    purpose TEXT NOT NULL,
    model BLOB NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    money REAL NOT NULL,
    input INTEGER,
    output INTEGER,
    cached INTEGER,
    cost REAL,
    calls INTEGER NOT NULL DEFAULT 1,
    place TEXT,
    pid INTEGER,
    process_start TEXT
);
CREATE INDEX model_calls_day ON model_calls (day, tokens, money);
CREATE INDEX model_calls_session ON model_calls (session, tokens);
CREATE INDEX model_calls_open ON model_calls (call) WHERE pid IS NOT NULL;

-- That a limit was reached and somebody was told. day is 0 and session empty where the scope has none.
CREATE TABLE limits_told (
    scope TEXT NOT NULL,
    cap REAL NOT NULL,
    day INTEGER NOT NULL,
    session BLOB NOT NULL,
    PRIMARY KEY (scope, cap, day, session)
) WITHOUT ROWID;

-- Completions by the hash of what was asked. text is sealed. session: in which it was made, and with which it goes.
CREATE TABLE memo (
    memo INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (session),
    key BLOB NOT NULL UNIQUE,
    model BLOB NOT NULL,
    text BLOB NOT NULL,
    at INTEGER NOT NULL
);
CREATE INDEX memo_session ON memo (session);
CREATE INDEX memo_at ON memo (at);
