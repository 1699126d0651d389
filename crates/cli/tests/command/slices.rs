//! Blocks whose servers are up together, the load moving between them in slices.

use crate::database::{Database, Trial};
use crate::place::Place;
use crate::plans::plan;

/// The same version twice.
const TWICE: &[(&str, &str)] = &[("a", "postgres@14.3"), ("b", "postgres@14.3")];
const STEPS: &str =
    "rows = 240000\ndelete_per_insert = false\nsteps = [\"l.i0\", \"l.x\", \"qp100\"]";

impl Database {
    /// The values of a series in a step of a trial; empty if it has none.
    pub fn series(&self, trial: i64, step: &str, name: &str) -> Vec<f64> {
        let sql = format!(
            "SELECT r.encoding, r.\"values\" FROM series r JOIN name rn ON rn.id = r.name_id \
             JOIN step s ON s.id = r.step_id JOIN name sn ON sn.id = s.name_id \
             WHERE s.trial_id = {trial} AND sn.text = '{step}' AND rn.text = '{name}'"
        );
        let found =
            self.list(&sql, |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)));
        let Some((encoding, bytes)) = found.into_iter().next() else { return Vec::new() };
        if encoding == "f32" {
            let value = |four: &[u8]| f64::from(f32::from_le_bytes(four.try_into().unwrap()));
            return bytes.chunks(4).map(value).collect();
        }
        bytes.chunks(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect()
    }

    /// A metric of a step in one trial.
    pub fn metric_of(&self, trial: i64, step: &str, metric: &str) -> Option<f64> {
        let sql = format!(
            "SELECT m.value FROM metric m JOIN name mn ON mn.id = m.name_id \
             JOIN step s ON s.id = m.step_id JOIN name sn ON sn.id = s.name_id \
             WHERE s.trial_id = {trial} AND sn.text = '{step}' AND mn.text = '{metric}'"
        );
        self.list(&sql, |row| row.get(0)).first().copied()
    }

    /// The notes of a step in one trial.
    pub fn notes(&self, trial: i64, step: &str) -> String {
        let sql = format!(
            "SELECT s.notes FROM step s JOIN name n ON n.id = s.name_id \
             WHERE s.trial_id = {trial} AND n.text = '{step}'"
        );
        self.texts(&sql).concat()
    }
}

#[test]
fn sliced_steps_store_a_rate_for_each_round() {
    let place = Place::new();
    let file = place.plan(&plan(TWICE, "pairing = \"slices\"\nslice_ms = 40", STEPS));
    let ran = place.run(&[&file]);
    ran.expect(0, &["trial 1/2", "trial 2/2", "  l.x     a ", "  qp100   b "]);
    assert!(ran.stdout.contains("Pairing by slices"), "{}", ran.stdout);
    let database = Database::of(&place.results());
    database.assert_sound();
    let trials = database.finished();
    assert_eq!(trials.len(), 2);
    for step in ["l.i0", "qp100"] {
        let rounds: Vec<_> =
            trials.iter().map(|trial| check_series(&database, trial, step)).collect();
        assert!(rounds[0] == rounds[1] && rounds[0] > 3, "{step}: {rounds:?}");
        for trial in &trials {
            for metric in ["o/s", "dbms.cpu/o", "client.cpu/o", "cpu.share", "slice.watching"] {
                let value = database.metric_of(trial.id, step, metric);
                assert!(value.is_some_and(|value| value > 0.0), "{metric} of {step}: {value:?}");
            }
            // Figures of all servers together belong to none of them.
            for metric in ["cpu/o", "cs/o", "r/o", "stall.count"] {
                assert_eq!(database.metric_of(trial.id, step, metric), None, "{metric} of {step}");
            }
            assert!(database.notes(trial.id, step).contains("in slices with all variants"));
        }
    }
    for trial in &trials {
        assert!(database.series(trial.id, "l.x", "slice.o/s").is_empty());
        assert!(database.notes(trial.id, "l.x").contains("in turns"));
    }
    // Both have inserted the same rows.
    let sizes = "SELECT DISTINCT operations FROM step s JOIN name n ON n.id = s.name_id \
                 WHERE n.text = 'l.i0'";
    assert_eq!(database.list(sizes, |row| row.get::<_, i64>(0)), [240_000]);
    // A second of queries for each.
    let spent: f64 = database.series(trials[0].id, "qp100", "slice.length").iter().sum();
    assert!((800.0..=1000.0).contains(&spent), "{spent} ms");
}

/// The series of a sliced step fit together; how many rounds there are.
fn check_series(database: &Database, trial: &Trial, step: &str) -> usize {
    let series = |name: &str| database.series(trial.id, step, name);
    let rates = series("slice.o/s");
    let (lengths, reasons) = (series("slice.length"), series("slice.reason"));
    assert_eq!((rates.len(), rates.len()), (lengths.len(), reasons.len()));
    for ((rate, length), reason) in rates.iter().zip(&lengths).zip(&reasons) {
        assert!([40.0, 80.0].contains(length), "{length}");
        assert!((0..6).any(|known| (reason - f64::from(known)).abs() < 1e-9), "{reason}");
        assert_eq!(rate.is_nan(), *reason > 0.0, "{rate} {reason}");
    }
    let metric = |name: &str| database.metric_of(trial.id, step, name).unwrap();
    assert!((metric("slice.ms") - 40.0).abs() < 1e-9);
    assert!((metric("slice.rounds") - rates.len() as f64).abs() < 0.5);
    let aside = reasons.iter().filter(|reason| [1.0, 2.0, 4.0, 5.0].contains(reason)).count();
    assert!((metric("slice.set_aside") - aside as f64 / rates.len() as f64).abs() < 1e-12);
    rates.len()
}
