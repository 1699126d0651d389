//! Statistics as pure functions: intervals, verdicts, CV, stalls.
