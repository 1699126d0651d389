//! The requests of YCSB's operations, for counting one kind at a time.

use plan::{Requests, YcsbPlan};

use super::builder::Builder;
use super::operations::Operation;
use crate::kinds::{Catalogue, Kind, Load, State};
use crate::request::{Expect, Request};
use crate::{Dialect, Error};

/// Records of a scan: the mean of YCSB's.
const SCANNED: u32 = 50;

/// The requests on `records` records.
///
/// # Errors
/// As [`super::benchmark`].
pub fn catalogue(plan: &YcsbPlan, records: u64, dialect: Dialect) -> Result<Catalogue, Error> {
    let plan = YcsbPlan { records: records.max(1), load_dop: 1, ..plan.clone() };
    let builder = Builder::new(&plan, dialect)?;
    let key = || builder.key(builder.number(Requests::Zipfian));
    let one = Expect::Rows { min: 1, max: 1 };
    let kind = |operation: Operation, name: String, request: Request| Kind {
        name,
        class: operation.class(),
        reads_only: matches!(operation, Operation::Read | Operation::Scan),
        rows: match request.expect() {
            Expect::Affected { max, .. } => max,
            _ => 0,
        },
        request,
        state: State::Loaded,
        adds: None,
    };
    let update = builder.updates(&key()).swap_remove(0);
    Ok(Catalogue {
        setup: builder.create(),
        load: Load::of(&builder.load()).collect(),
        index: Vec::new(),
        cells: 2,
        refresh: builder.refresh(),
        config: builder.config(1),
        kinds: vec![
            kind(Operation::Read, "read".to_owned(), builder.read(key(), one)),
            kind(Operation::Update, "update".to_owned(), update),
            kind(Operation::Insert, "insert".to_owned(), builder.insert(1, builder.before())),
            kind(Operation::Scan, format!("scan-{SCANNED}"), builder.scan(SCANNED, 1, key())),
        ],
    })
}
