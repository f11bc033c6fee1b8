-- The recap that was drafted last for a session; text is sealed. context_hash: of the input it stands for.
CREATE TABLE recaps (
    session INTEGER PRIMARY KEY REFERENCES sessions (session),
    text BLOB NOT NULL,
    model BLOB,
    context_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL
);
