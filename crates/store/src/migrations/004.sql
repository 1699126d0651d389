-- All counts of a kind, not two of them.
CREATE TABLE count_total (
    count_id     INTEGER NOT NULL REFERENCES count (id) ON DELETE CASCADE,
    ordinal      INTEGER NOT NULL,
    instructions INTEGER NOT NULL,
    PRIMARY KEY (count_id, ordinal)
) STRICT, WITHOUT ROWID;

INSERT INTO count_total (count_id, ordinal, instructions)
SELECT id, 0, instructions FROM count UNION ALL SELECT id, 1, repeated FROM count;

ALTER TABLE count DROP COLUMN repeated;
