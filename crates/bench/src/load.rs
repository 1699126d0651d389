//! Step l.i0 of the insert benchmark, as steelyard's engine runs it and as a bare loop sends it.

use anyhow::{Context, Result, bail};
use workload::{Dialect, Draw, Phase, Piece, Statement, Step, insert};

/// The step, with one client and this many rows.
pub fn step(rows: u64, prepared: bool) -> Result<Step> {
    let plan = plan::InsertPlan {
        rows,
        prepared_inserts: prepared,
        steps: vec!["l.i0".to_owned()],
        ..plan::InsertPlan::default()
    };
    let benchmark = insert::benchmark(&plan, 1, Dialect::postgres(15))?;
    let Some(Phase::Step(step)) = benchmark.phases.into_iter().next() else {
        bail!("the insert benchmark has no step l.i0")
    };
    Ok(step)
}

/// A statement of l.i0 as sent in text, and the number of rows that it inserts. The time in it has
/// the same length as any other.
pub fn statement() -> Result<(String, u64)> {
    let step = step(1, false)?;
    let stream = step.streams.first().context("l.i0 has no stream")?;
    let request = stream.requests.first().context("l.i0 sends nothing")?;
    let statement = request.statement().context("l.i0 sends no statement")?;
    let stopped = |piece: &Piece| match piece {
        Piece::Value(Draw::Now) => Piece::Text("'2022-06-16 10:00:00'".to_owned()),
        other => other.clone(),
    };
    let pieces = statement.pieces.iter().map(|piece| match piece {
        Piece::Rows { count, row } => {
            Piece::Rows { count: *count, row: row.iter().map(stopped).collect() }
        }
        other => stopped(other),
    });
    let statement = Statement { pieces: pieces.collect(), ..statement.clone() };
    Ok((statement.example(&[], 42), stream.operations_per_round))
}
