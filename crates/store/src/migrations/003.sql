-- An experiment is a run or a count. What is there already are runs.
ALTER TABLE experiment ADD COLUMN purpose TEXT NOT NULL DEFAULT 'run' CHECK (purpose IN ('run', 'count'));

-- Exact numbers of instructions of statements of one kind.
CREATE TABLE count (
    id           INTEGER PRIMARY KEY,
    variant_id   INTEGER NOT NULL REFERENCES variant (id) ON DELETE CASCADE,
    kind_id      INTEGER NOT NULL REFERENCES name (id),
    protocol     TEXT NOT NULL,
    place        TEXT NOT NULL,
    statements   INTEGER NOT NULL CHECK (statements > 0),
    row_count    INTEGER NOT NULL,
    instructions INTEGER NOT NULL,
    repeated     INTEGER NOT NULL,
    UNIQUE (variant_id, kind_id, protocol, place)
) STRICT;

CREATE TABLE count_phase (
    count_id     INTEGER NOT NULL REFERENCES count (id) ON DELETE CASCADE,
    ordinal      INTEGER NOT NULL,
    name_id      INTEGER NOT NULL REFERENCES name (id),
    instructions INTEGER NOT NULL,
    PRIMARY KEY (count_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE count_function (
    count_id  INTEGER NOT NULL REFERENCES count (id) ON DELETE CASCADE,
    ordinal   INTEGER NOT NULL,
    name_id   INTEGER NOT NULL REFERENCES name (id),
    object_id INTEGER NOT NULL REFERENCES name (id),
    own       INTEGER NOT NULL,
    inclusive INTEGER NOT NULL,
    calls     INTEGER NOT NULL,
    PRIMARY KEY (count_id, ordinal)
) STRICT, WITHOUT ROWID;
