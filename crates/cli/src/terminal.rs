//! The terminal that the output goes to.

/// The width of output without a terminal, in columns.
const USUAL: usize = 80;
/// The maximum width of output on a terminal.
const WIDEST: usize = 100;

/// Columns of the terminal, if there is one; readable in any case.
pub fn columns() -> usize {
    terminal_size::terminal_size()
        .map_or(USUAL, |(width, _)| usize::from(width.0))
        .clamp(40, WIDEST)
}
