-- How the DBMS would execute the statements of a step, and what it did by itself meanwhile.
CREATE TABLE query_plan (
    step_id      INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    ordinal      INTEGER NOT NULL,
    statement_id INTEGER NOT NULL REFERENCES name (id),
    plan_id      INTEGER NOT NULL REFERENCES name (id),
    PRIMARY KEY (step_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
    step_id INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    at_ms   INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    text    TEXT NOT NULL,
    PRIMARY KEY (step_id, ordinal)
) STRICT, WITHOUT ROWID;
