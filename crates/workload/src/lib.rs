//! The benchmarks as data: tables, steps, statements, how parameters are drawn.
