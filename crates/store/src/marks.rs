//! What changed in a store, without reading results.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::records::ExperimentId;
use crate::store::Store;

/// Everything by which the results of an experiment can change: its own row, its attempts at
/// trials and their states, its variants, warnings and counts. The steps of a trial are stored
/// before it is finished, and stay.
const MARKS: &str = "SELECT e.id, json_array(e.created_ms, e.name, e.seed, e.blocks, e.margin, e.state, e.ended_ms, \
                     e.host_set_id, length(e.plan), t.n, t.last, t.finished, t.ended, \
                     (SELECT json_array(count(*), max(v.id)) FROM variant v WHERE v.experiment_id = e.id), \
                     (SELECT json_array(count(*), max(w.id)) FROM warning w WHERE w.experiment_id = e.id), \
                     (SELECT json_array(count(*), max(c.id)) FROM count c JOIN variant v ON v.id = c.variant_id \
                      WHERE e.purpose = 'count' AND v.experiment_id = e.id)) \
                     FROM experiment e LEFT JOIN (SELECT experiment_id, count(*) AS n, max(id) AS last, \
                     sum(state = 'finished') AS finished, max(ended_ms) AS ended FROM trial \
                     GROUP BY experiment_id) t ON t.experiment_id = e.id ORDER BY e.id";

impl Store {
    /// A number that differs from its last value if another connection has changed the database
    /// since. Costs next to nothing.
    ///
    /// # Errors
    /// If the database cannot be read; this applies to all functions here.
    pub fn change_counter(&self) -> Result<i64> {
        self.wrap(self.connection.pragma_query_value(None, "data_version", |row| row.get(0)))
    }

    /// A mark for every experiment, a text without a meaning of its own. It changes whenever the
    /// results of the experiment may have changed, also if another has taken its number.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn marks(&self) -> Result<BTreeMap<ExperimentId, String>> {
        let rows = self.rows(MARKS, [], |row| Ok((ExperimentId(row.get(0)?), row.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }
}
