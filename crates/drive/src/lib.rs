//! The load engine: clients, pacing, histograms, per-second counts.
