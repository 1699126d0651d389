-- Texts that repeat: names of steps, metrics, series, counters, views, tables.
CREATE TABLE name (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

-- Facts about a machine. Sets are shared by all that have the same.
CREATE TABLE host_set (
    id     INTEGER PRIMARY KEY,
    digest INTEGER NOT NULL
) STRICT;
CREATE INDEX host_set_digest ON host_set (digest);

CREATE TABLE host_fact (
    set_id  INTEGER NOT NULL REFERENCES host_set (id),
    ordinal INTEGER NOT NULL,
    grp     TEXT NOT NULL,
    name    TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (set_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Settings of a server that differ from the default. Sets are shared likewise.
CREATE TABLE setting_set (
    id     INTEGER PRIMARY KEY,
    digest INTEGER NOT NULL
) STRICT;
CREATE INDEX setting_set_digest ON setting_set (digest);

CREATE TABLE setting (
    set_id     INTEGER NOT NULL REFERENCES setting_set (id),
    ordinal    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    value      TEXT NOT NULL,
    unit       TEXT NOT NULL,
    source     TEXT NOT NULL,
    boot_value TEXT NOT NULL,
    PRIMARY KEY (set_id, ordinal)
) STRICT, WITHOUT ROWID;

-- A run or a count. A purpose that is the default adds nothing to the content hash. The id of a
-- removed one is not used again (in databases made before, that of the last one is).
CREATE TABLE experiment (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL,
    workload    TEXT NOT NULL,
    base        TEXT NOT NULL,
    seed        INTEGER NOT NULL,
    blocks      INTEGER NOT NULL,
    margin      REAL NOT NULL,
    plan        TEXT NOT NULL,
    steelyard   TEXT NOT NULL,
    created_ms  INTEGER NOT NULL,
    ended_ms    INTEGER,
    state       TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted')),
    host_set_id INTEGER REFERENCES host_set (id),
    purpose     TEXT NOT NULL DEFAULT 'run' CHECK (purpose IN ('run', 'count'))
) STRICT;

CREATE TABLE variant (
    id            INTEGER PRIMARY KEY,
    experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    name          TEXT NOT NULL,
    dbms          TEXT NOT NULL,
    source        TEXT NOT NULL,
    version       TEXT NOT NULL,
    build         TEXT NOT NULL,
    config        TEXT NOT NULL,
    UNIQUE (experiment_id, name)
) STRICT;

CREATE TABLE trial (
    id             INTEGER PRIMARY KEY,
    experiment_id  INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
    variant_id     INTEGER NOT NULL REFERENCES variant (id),
    block          INTEGER NOT NULL,
    position       INTEGER NOT NULL,
    sequence       INTEGER NOT NULL,
    attempt        INTEGER NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('running', 'finished', 'failed', 'abandoned', 'polluted')),
    started_ms     INTEGER NOT NULL,
    ended_ms       INTEGER,
    error          TEXT,
    host_set_id    INTEGER REFERENCES host_set (id),
    setting_set_id INTEGER REFERENCES setting_set (id),
    UNIQUE (experiment_id, variant_id, block, sequence, attempt)
) STRICT;
-- A variant has one result per block and sequence, however often it was tried.
CREATE UNIQUE INDEX trial_result ON trial (experiment_id, variant_id, block, sequence) WHERE state = 'finished';

-- What steps count. Steps that count the same share a row.
CREATE TABLE measure (
    id     INTEGER PRIMARY KEY,
    class  TEXT NOT NULL,
    unit   TEXT NOT NULL,
    better TEXT NOT NULL CHECK (better IN ('more', 'less')),
    timed  INTEGER NOT NULL CHECK (timed IN (0, 1)),
    labels TEXT NOT NULL,
    UNIQUE (class, unit, better, timed, labels)
) STRICT;

CREATE TABLE step (
    id         INTEGER PRIMARY KEY,
    trial_id   INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    name_id    INTEGER NOT NULL REFERENCES name (id),
    dop        INTEGER NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('measured', 'settle')),
    state      TEXT NOT NULL CHECK (state IN ('finished', 'failed')),
    started_ms INTEGER NOT NULL,
    seconds    REAL NOT NULL,
    operations INTEGER NOT NULL,
    measure_id INTEGER NOT NULL REFERENCES measure (id),
    absent     TEXT NOT NULL,
    notes      TEXT NOT NULL,
    UNIQUE (trial_id, ordinal)
) STRICT;

CREATE TABLE metric (
    step_id INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    name_id INTEGER NOT NULL REFERENCES name (id),
    value   REAL NOT NULL,
    PRIMARY KEY (step_id, name_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE series (
    id       INTEGER PRIMARY KEY,
    step_id  INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    name_id  INTEGER NOT NULL REFERENCES name (id),
    label    TEXT NOT NULL,
    unit     TEXT NOT NULL,
    grp      TEXT NOT NULL,
    encoding TEXT NOT NULL CHECK (encoding IN ('f64', 'f32')),
    "values" BLOB NOT NULL,
    UNIQUE (step_id, name_id)
) STRICT;

CREATE TABLE histogram (
    step_id INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    class   TEXT NOT NULL,
    count   INTEGER NOT NULL,
    hdr     BLOB NOT NULL,
    PRIMARY KEY (step_id, class)
) STRICT;

CREATE TABLE counter (
    step_id   INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    ordinal   INTEGER NOT NULL,
    view_id   INTEGER NOT NULL REFERENCES name (id),
    object_id INTEGER NOT NULL REFERENCES name (id),
    name_id   INTEGER NOT NULL REFERENCES name (id),
    value     REAL NOT NULL,
    PRIMARY KEY (step_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Sizes have names, which differ between systems.
CREATE TABLE size (
    step_id   INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    ordinal   INTEGER NOT NULL,
    object_id INTEGER NOT NULL REFERENCES name (id),
    name      TEXT NOT NULL,
    bytes     INTEGER NOT NULL,
    PRIMARY KEY (step_id, ordinal)
) STRICT, WITHOUT ROWID;

-- How the DBMS would execute the statements of a step.
CREATE TABLE query_plan (
    step_id      INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    ordinal      INTEGER NOT NULL,
    statement_id INTEGER NOT NULL REFERENCES name (id),
    plan_id      INTEGER NOT NULL REFERENCES name (id),
    PRIMARY KEY (step_id, ordinal)
) STRICT, WITHOUT ROWID;

-- What the DBMS did by itself during a step.
CREATE TABLE event (
    step_id INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    at_ms   INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    text    TEXT NOT NULL,
    PRIMARY KEY (step_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE warning (
    id            INTEGER PRIMARY KEY,
    experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
    trial_id      INTEGER REFERENCES trial (id) ON DELETE CASCADE,
    step_id       INTEGER REFERENCES step (id) ON DELETE CASCADE,
    code          TEXT NOT NULL,
    text          TEXT NOT NULL
) STRICT;
CREATE INDEX warning_experiment ON warning (experiment_id);
CREATE INDEX warning_trial ON warning (trial_id);
CREATE INDEX warning_step ON warning (step_id);

CREATE TABLE failure (
    id      INTEGER PRIMARY KEY,
    step_id INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    class   TEXT NOT NULL,
    code    TEXT NOT NULL,
    message TEXT NOT NULL,
    count   INTEGER NOT NULL,
    retried INTEGER NOT NULL CHECK (retried IN (0, 1))
) STRICT;
CREATE INDEX failure_step ON failure (step_id);

-- Exact numbers of instructions, or of another event, of statements of one kind.
CREATE TABLE count (
    id           INTEGER PRIMARY KEY,
    variant_id   INTEGER NOT NULL REFERENCES variant (id) ON DELETE CASCADE,
    kind_id      INTEGER NOT NULL REFERENCES name (id),
    protocol     TEXT NOT NULL,
    place        TEXT NOT NULL,
    event        TEXT NOT NULL,
    statements   INTEGER NOT NULL CHECK (statements > 0),
    row_count    INTEGER NOT NULL,
    total        INTEGER NOT NULL,
    UNIQUE (variant_id, kind_id, protocol, place, event)
) STRICT;

-- Everything is counted at least twice.
CREATE TABLE count_total (
    count_id     INTEGER NOT NULL REFERENCES count (id) ON DELETE CASCADE,
    ordinal      INTEGER NOT NULL,
    total        INTEGER NOT NULL,
    PRIMARY KEY (count_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE count_phase (
    count_id     INTEGER NOT NULL REFERENCES count (id) ON DELETE CASCADE,
    ordinal      INTEGER NOT NULL,
    name_id      INTEGER NOT NULL REFERENCES name (id),
    total        INTEGER NOT NULL,
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
