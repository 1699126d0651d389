//! The identity of an experiment: a hash of everything stored about it except ids.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use sha2::{Digest, Sha256};

use super::NewIds;
use super::copy::{part_rows, shared_row};
use super::shape::{Column, Ownership, Shape, Table};
use crate::error::{Result, StoreError};
use crate::notes::NOTED;
use crate::records::{Experiment, ExperimentId, TrialId};
use crate::store::Store;

/// Length of a SHA-256.
type Sum = [u8; 32];

/// The identity of an experiment, wherever it is stored.
impl Store {
    /// SHA-256, as 64 hexadecimal digits, of all that is stored about an experiment, with its
    /// artifacts, except for notes: the same on every machine, whatever ids it has there. A column
    /// that has its default, or a table without rows, adds nothing to it, so a new column or table
    /// does not change it.
    ///
    /// # Errors
    /// If the experiment does not exist, or its rows or artifacts cannot be read.
    pub fn content_hash(&self, experiment: ExperimentId) -> Result<String> {
        let behavior = TransactionBehavior::Deferred;
        let reading = self.wrap(Transaction::new_unchecked(&self.connection, behavior))?;
        self.require(&reading, "experiment", experiment.0)?;
        let shape = self.wrap(Shape::current())?;
        let mut hasher = Hasher {
            store: self,
            reading: &reading,
            shape,
            ordinals: HashMap::new(),
            shared: HashMap::new(),
            all: Sha256::new(),
        };
        for (table, _) in shape.owned() {
            hasher.table(table, experiment)?;
        }
        for (name, path) in self.artifacts_of(experiment, &hasher.new_ids(experiment))? {
            let sum = hash_file(&path).map_err(StoreError::unreadable(&path))?;
            add_text(&mut hasher.all, b'a', &name.display().to_string());
            hasher.all.update(sum);
        }
        Ok(hex(&hasher.all.finalize().into()))
    }

    /// The experiments that began as this one did: of the same name and seed, in the same
    /// millisecond. They are the same experiment, possibly in another state.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn begun_like(&self, other: &Experiment) -> Result<Vec<Experiment>> {
        let same = |one: &Experiment| {
            (&one.name, one.seed, one.created_ms) == (&other.name, other.seed, other.created_ms)
        };
        Ok(self.all_experiments()?.into_iter().filter(same).collect())
    }
}

/// SHA-256 of a file.
pub(super) fn hash_file(path: &Path) -> io::Result<Sum> {
    let (mut file, mut sum) = (File::open(path)?, Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(sum.finalize().into()),
            read => sum.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

fn hex(sum: &Sum) -> String {
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Hasher<'a> {
    store: &'a Store,
    reading: &'a Connection,
    shape: &'a Shape,
    /// Places among the experiment's rows, from 1, by table and id.
    ordinals: HashMap<(usize, i64), i64>,
    /// Hashes of shared rows, by table and id.
    shared: HashMap<(usize, i64), Sum>,
    all: Sha256,
}

impl Hasher<'_> {
    fn table(&mut self, table: usize, experiment: ExperimentId) -> Result<()> {
        let Table { name, columns, has_id, .. } = &self.shape.tables[table];
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|place| &columns[*place].name);
        // Notes are about the results.
        let noted = (name == "warning").then(|| columns.iter().position(|it| it.name == "code"));
        let noted = noted.flatten();
        let mut select = self.store.wrap(self.reading.prepare(&self.shape.select(table)))?;
        let mut rows = self.store.wrap(select.query([experiment.0]))?;
        // Rows without ids have no order, so the rows of each owner are sorted.
        let (mut owner, mut group) = (None, Vec::new());
        let mut count = 0;
        while let Some(row) = self.store.wrap(rows.next())? {
            let key: i64 = self.store.wrap(row.get(0))?;
            if let Some(code) = noted
                && self.store.wrap(row.get::<_, String>(code + 1))? == NOTED
            {
                continue;
            }
            if count == 0 {
                add_text(&mut self.all, b't', name);
            }
            count += 1;
            if *has_id {
                self.ordinals.insert((table, key), count);
            }
            if *has_id || owner != Some(key) {
                self.end(&mut group);
                owner = Some(key);
            }
            let mut sum = Sha256::new();
            for place in &order {
                let column = &columns[*place];
                let value = self.store.wrap(row.get(place + 1))?;
                self.add(&mut sum, column, &value)?;
            }
            group.push(sum.finalize().into());
        }
        self.end(&mut group);
        Ok(())
    }

    fn end(&mut self, group: &mut Vec<Sum>) {
        group.sort_unstable();
        group.drain(..).for_each(|sum| self.all.update(sum));
    }

    fn add(&mut self, sum: &mut Sha256, column: &Column, value: &Value) -> Result<()> {
        let (Some(to), Value::Integer(id)) = (column.refers, value) else {
            add_value(sum, column, value);
            return Ok(());
        };
        add_text(sum, b'c', &column.name);
        if self.shape.tables[to].kind == Ownership::Shared {
            let row = self.shared_row(to, *id)?;
            sum.update(row);
        } else {
            // A row that refers to another experiment's is damaged; copying it is refused.
            let ordinal = self.ordinals.get(&(to, *id)).copied().unwrap_or(-1);
            sum.update(ordinal.to_le_bytes());
        }
        Ok(())
    }

    fn shared_row(&mut self, table: usize, id: i64) -> Result<Sum> {
        if let Some(known) = self.shared.get(&(table, id)) {
            return Ok(*known);
        }
        let Table { name, columns, .. } = &self.shape.tables[table];
        let mut sum = Sha256::new();
        let row = self.store.wrap(shared_row(self.reading, name, columns, id))?;
        for (column, value) in columns.iter().zip(row.unwrap_or_default()) {
            add_value(&mut sum, column, &value);
        }
        for (part, owner) in self.shape.parts(table) {
            for row in self.store.wrap(part_rows(self.reading, part, owner, id))? {
                add_text(&mut sum, b't', &part.name);
                part.columns.iter().zip(&row).for_each(|(c, value)| add_value(&mut sum, c, value));
            }
        }
        let sum: Sum = sum.finalize().into();
        self.shared.insert((table, id), sum);
        Ok(sum)
    }

    /// The ids that the experiment would have in a store by itself.
    fn new_ids(&self, experiment: ExperimentId) -> NewIds {
        let find = |name: &str| self.shape.tables.iter().position(|table| table.name == name);
        let trial = find("trial");
        let of = |((table, old), new): (&(usize, i64), &i64)| {
            (Some(*table) == trial).then_some((TrialId(*old), TrialId(*new)))
        };
        let trials: BTreeMap<_, _> = self.ordinals.iter().filter_map(of).collect();
        NewIds { experiment: (experiment, ExperimentId(1)), trials }
    }
}

/// Adds a text with its length, so that no two sequences of texts give the same bytes.
fn add_text(sum: &mut Sha256, tag: u8, text: &str) {
    sum.update([tag]);
    sum.update((text.len() as u64).to_le_bytes());
    sum.update(text);
}

fn add_value(sum: &mut Sha256, column: &Column, value: &Value) {
    if *value == column.default || *value == Value::Null {
        return;
    }
    add_text(sum, b'c', &column.name);
    match value {
        Value::Null => {}
        Value::Integer(number) => {
            sum.update(b"i");
            sum.update(number.to_le_bytes());
        }
        Value::Real(number) => {
            sum.update(b"r");
            sum.update(number.to_bits().to_le_bytes());
        }
        Value::Text(text) => add_text(sum, b'x', text),
        Value::Blob(bytes) => {
            sum.update(b"b");
            sum.update((bytes.len() as u64).to_le_bytes());
            sum.update(bytes);
        }
    }
}
