//! How results are printed.

use std::io::Write;

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use report::ReportError;

/// Output format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned with spaces, for terminals and email
    Text,
    /// Headings, lists and pipes
    Markdown,
    /// One line per cell
    Csv,
    /// One document; docs/*-json.md describe the shapes
    Json,
}

impl Format {
    /// Prints the output of `render`, with colors if the terminal shows them.
    pub fn print(
        self,
        render: impl FnOnce(report::Format) -> Result<String, ReportError>,
    ) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout();
        let format = match self {
            Format::Text if AutoStream::choice(&stdout) != ColorChoice::Never => {
                report::Format::Terminal
            }
            Format::Text => report::Format::Text,
            Format::Markdown => report::Format::Markdown,
            Format::Csv => report::Format::Csv,
            Format::Json => report::Format::Json,
        };
        stdout.write_all(render(format)?.as_bytes())?;
        Ok(())
    }

    /// Renders and prints it to standard error, because standard output has the file.
    pub fn tell(
        self,
        render: impl FnOnce(report::Format) -> Result<String, ReportError>,
    ) -> anyhow::Result<()> {
        let text = render(match self {
            Format::Text => report::Format::Text,
            Format::Markdown => report::Format::Markdown,
            Format::Csv => report::Format::Csv,
            Format::Json => report::Format::Json,
        })?;
        std::io::stderr().write_all(text.as_bytes())?;
        Ok(())
    }
}
