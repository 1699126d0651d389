//! The data that statements run on: loaded once for each variant, without Callgrind, and copied for
//! every server that counts.

use std::collections::BTreeSet;

use dbms::{Endpoint, Loaded, Sql};
use drive::Single;
use workload::{Catalogue, State, stream_seed};

use super::counter::{Counter, failed};
use super::jobs::Database;
use crate::error::Error;
use crate::systems::target;

impl Counter<'_> {
    /// Loads the data of a variant into each of the `databases` and keeps them.
    pub fn load(&self, variant: usize, databases: &BTreeSet<Database>) -> Result<Loaded, Error> {
        let (method, catalogue) = (self.method(variant), &self.catalogues[variant]);
        let directory = self.place(&format!("load{variant}"));
        let mut server = self.start(variant, &directory, None, Vec::new())?;
        let endpoint = server.endpoint();
        let sql = server.need_sql()?;
        self.fill(sql, endpoint, catalogue)?;
        let states: BTreeSet<State> = databases.iter().map(|database| database.state).collect();
        for state in states {
            if state == State::Indexed {
                for statement in &catalogue.index {
                    sql.execute(statement)?;
                }
            }
            sql.execute(method.freeze)?;
            for database in databases.iter().filter(|database| database.state == state) {
                self.unless_interrupted()?;
                sql.execute(&(method.copy)(&database.to_string()))?;
            }
        }
        sql.execute(method.finish)?;
        Ok(server.stop()?.keep(self.interrupted)?)
    }

    fn fill(
        &self,
        sql: &mut dyn Sql,
        endpoint: Endpoint,
        catalogue: &Catalogue,
    ) -> Result<(), Error> {
        for statement in &catalogue.setup {
            sql.execute(statement)?;
        }
        let Some((statement, times)) = &catalogue.load else { return Ok(()) };
        let failed = |error| failed("load", "load", error);
        let seed = stream_seed(self.seed, "load", 1, 0, "count");
        let target = target("load", endpoint);
        let mut single = Single::connect(&target, seed, catalogue.cells).map_err(failed)?;
        let handle = single.prepare(statement).map_err(failed)?;
        for _ in 0..*times {
            self.unless_interrupted()?;
            single.run(handle).map_err(failed)?;
        }
        Ok(())
    }
}
