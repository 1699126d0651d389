-- Trials may be polluted. A CHECK can only be changed by making the table anew; the steps refer to it by its name,
-- which it has again at the end (sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes").
CREATE TABLE new_trial (
    id             INTEGER PRIMARY KEY,
    experiment_id  INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
    variant_id     INTEGER NOT NULL REFERENCES variant (id),
    block          INTEGER NOT NULL,
    position       INTEGER NOT NULL,
    dop            INTEGER NOT NULL,
    attempt        INTEGER NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('running', 'finished', 'failed', 'abandoned', 'polluted')),
    started_ms     INTEGER NOT NULL,
    ended_ms       INTEGER,
    error          TEXT,
    host_set_id    INTEGER REFERENCES host_set (id),
    setting_set_id INTEGER REFERENCES setting_set (id),
    UNIQUE (experiment_id, variant_id, block, dop, attempt)
) STRICT;
INSERT INTO new_trial (id, experiment_id, variant_id, block, position, dop, attempt, state, started_ms, ended_ms, error, host_set_id, setting_set_id)
SELECT id, experiment_id, variant_id, block, position, dop, attempt, state, started_ms, ended_ms, error, host_set_id, setting_set_id FROM trial;
DROP TABLE trial;
ALTER TABLE new_trial RENAME TO trial;
-- A variant has one result per block and dop, however often it was tried.
CREATE UNIQUE INDEX trial_result ON trial (experiment_id, variant_id, block, dop) WHERE state = 'finished';
