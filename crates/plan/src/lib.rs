//! Reads and checks a plan (TOML) and expands it into blocks of trials.
