//! Tables, plots, HTML and exports of stored results.
