//! The systems under test: obtain, initialise, start, settle, count, stop.
