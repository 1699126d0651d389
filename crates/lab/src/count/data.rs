//! The data that requests run on: loaded once for each variant, without Callgrind, and copied for
//! every server that counts.

use std::collections::BTreeSet;

use dbms::{Endpoint, Loaded, Sql, SqlCount, System};
use drive::Single;
use workload::{Catalogue, State, stream_seed};

use super::counter::{Counter, failed};
use super::jobs::Database;
use crate::error::Error;
use crate::systems::target;

impl Counter<'_> {
    /// Loads the data of a variant into each of the `databases` and keeps them.
    pub fn load(&self, variant: usize, databases: &BTreeSet<Database>) -> Result<Loaded, Error> {
        let catalogue = &self.catalogues[variant];
        let directory = self.place(&format!("load{variant}"));
        let mut server = self.start(variant, &directory, None, Vec::new())?;
        match &self.method(variant).sql {
            Some(method) => self.load_tables(server.as_mut(), method, catalogue, databases)?,
            None => self.load_keys(server.as_mut(), catalogue)?,
        }
        Ok(server.stop()?.keep(self.interrupted)?)
    }

    fn load_tables(
        &self,
        server: &mut dyn System,
        method: &SqlCount,
        catalogue: &Catalogue,
        databases: &BTreeSet<Database>,
    ) -> Result<(), Error> {
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
            if let Some(freeze) = method.freeze {
                sql.execute(freeze)?;
            }
            for database in databases.iter().filter(|database| database.state == state) {
                self.unless_interrupted()?;
                (method.copy)(sql, &database.to_string())?;
            }
        }
        if let Some(finish) = method.finish {
            sql.execute(finish)?;
        }
        // What is left to purge would be purged under Callgrind, which takes very long: MariaDB has
        // work for each inserted row.
        server.settle(&[])?;
        Ok(())
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
        let failed = |error| failed("load", "load", error);
        let target = target("load", endpoint);
        for load in &catalogue.load {
            let seed = self.load_seed();
            let mut single = Single::connect(&target, seed, catalogue.cells).map_err(failed)?;
            let handle = single.prepare(load.request.clone()).map_err(failed)?;
            for _ in 0..load.times {
                self.unless_interrupted()?;
                single.run(handle).map_err(failed)?;
                if let Some((cell, by)) = load.adds {
                    single.add(cell, by);
                }
            }
        }
        Ok(())
    }

    /// The seed of what is loaded.
    pub fn load_seed(&self) -> u64 {
        stream_seed(self.seed, "load", 1, 0, "count")
    }
}
