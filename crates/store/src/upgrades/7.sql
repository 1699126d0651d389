-- From 6 to 7: counts of other events than instructions.
CREATE TABLE new_count (
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
INSERT INTO new_count
    (id, variant_id, kind_id, protocol, place, event, statements, row_count, total)
SELECT id, variant_id, kind_id, protocol, place, 'instructions', statements, row_count, instructions
FROM count;
DROP TABLE count;
ALTER TABLE new_count RENAME TO count;
ALTER TABLE count_total RENAME COLUMN instructions TO total;
ALTER TABLE count_phase RENAME COLUMN instructions TO total;
