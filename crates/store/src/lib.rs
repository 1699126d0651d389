//! Results on disk: schema, migrations, reading and writing.
