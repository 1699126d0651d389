-- A step says itself what it counts. Those that are there are steps of the insert benchmark.
CREATE TABLE measure (
    id     INTEGER PRIMARY KEY,
    class  TEXT NOT NULL,
    unit   TEXT NOT NULL,
    better TEXT NOT NULL CHECK (better IN ('more', 'less')),
    timed  INTEGER NOT NULL CHECK (timed IN (0, 1)),
    labels TEXT NOT NULL,
    UNIQUE (class, unit, better, timed, labels)
) STRICT;
INSERT INTO measure VALUES
    (1, '', '', 'more', 0, '{}'), (2, 'query', 'queries', 'more', 1, '{}'),
    (3, 'define', 'rows', 'more', 0, '{}'), (4, 'insert', 'rows', 'more', 0, '{}');
ALTER TABLE step ADD COLUMN measure_id INTEGER NOT NULL DEFAULT 1 REFERENCES measure (id);
UPDATE step SET measure_id = CASE unit WHEN 'queries' THEN 2 WHEN 'rows' THEN 4 ELSE 1 END;
UPDATE step SET measure_id = 3
WHERE measure_id = 4 AND name_id = (SELECT id FROM name WHERE text = 'l.x');
ALTER TABLE step DROP COLUMN unit;

-- A step has its dop; a trial goes through one of the workload's sequences of steps.
ALTER TABLE trial RENAME COLUMN dop TO sequence;

-- Not all systems have SQLSTATEs.
ALTER TABLE failure RENAME COLUMN sqlstate TO code;

-- Sizes have names, which differ between systems.
CREATE TABLE size (
    step_id   INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    ordinal   INTEGER NOT NULL,
    object_id INTEGER NOT NULL REFERENCES name (id),
    name      TEXT NOT NULL,
    bytes     INTEGER NOT NULL,
    PRIMARY KEY (step_id, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO size
SELECT step_id, 3 * ordinal, table_id, 'index', index_bytes FROM table_size UNION ALL
SELECT step_id, 3 * ordinal + 1, table_id, 'rel', rel_bytes FROM table_size UNION ALL
SELECT step_id, 3 * ordinal + 2, table_id, 'total', total_bytes FROM table_size;
DROP TABLE table_size;
