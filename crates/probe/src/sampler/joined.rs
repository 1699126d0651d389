//! Joins two recordings, leaving out what was between them.

use super::{DeviceTotals, GroupTotals, HostTotals, Recording, Series, Totals};
use crate::throttle::Throttle;

impl Recording {
    /// Joins this recording and a later one of the same targets, as if no time had passed between
    /// them. The state of the page cache is the one at the start of this recording.
    pub fn followed_by(mut self, later: Recording) -> Recording {
        let (length, further) = (length(&self.series), length(&later.series));
        for series in &mut self.series {
            match later.series.iter().find(|other| other.name == series.name) {
                Some(other) => series.values.extend(&other.values),
                None => series.values.resize(length + further, f64::NAN),
            }
        }
        for mut series in later.series {
            if !self.series.iter().any(|known| known.name == series.name) {
                let mut values = vec![f64::NAN; length];
                values.append(&mut series.values);
                self.series.push(Series { values, ..series });
            }
        }
        for note in later.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.totals = self.totals.plus(&later.totals);
        self
    }
}

fn length(series: &[Series]) -> usize {
    series.first().map_or(0, |series| series.values.len())
}

impl Totals {
    fn plus(&self, later: &Totals) -> Totals {
        let throttle = both(&self.throttle, &later.throttle, |a, b| Throttle {
            core: a.core + b.core,
            package: a.package + b.package,
        });
        Totals {
            seconds: self.seconds + later.seconds,
            host: both(&self.host, &later.host, |a, b| {
                let percent = a.cpu_percent * self.seconds + b.cpu_percent * later.seconds;
                let seconds = self.seconds + later.seconds;
                let cpu_percent = if seconds > 0.0 { percent / seconds } else { 0.0 };
                HostTotals { cpu_percent, ..a.plus(b) }
            }),
            device: both(&self.device, &later.device, DeviceTotals::plus),
            dbms: both(&self.dbms, &later.dbms, GroupTotals::plus),
            sampler_cpu_us: self.sampler_cpu_us + later.sampler_cpu_us,
            throttle,
        }
    }
}

impl HostTotals {
    /// All except the percentage, which is not a sum.
    fn plus(&self, other: &HostTotals) -> HostTotals {
        HostTotals {
            busy_s: self.busy_s + other.busy_s,
            idle_s: self.idle_s + other.idle_s,
            iowait_s: self.iowait_s + other.iowait_s,
            steal_s: self.steal_s + other.steal_s,
            cpu_percent: 0.0,
            context_switches: sum(self.context_switches, other.context_switches),
        }
    }
}

impl DeviceTotals {
    fn plus(&self, other: &DeviceTotals) -> DeviceTotals {
        DeviceTotals {
            reads: self.reads + other.reads,
            read_kb: self.read_kb + other.read_kb,
            writes: self.writes + other.writes,
            write_kb: self.write_kb + other.write_kb,
        }
    }
}

impl GroupTotals {
    fn plus(&self, other: &GroupTotals) -> GroupTotals {
        GroupTotals {
            user_us: sum(self.user_us, other.user_us),
            system_us: sum(self.system_us, other.system_us),
            switches: sum(self.switches, other.switches),
        }
    }
}

/// The sum of both; `None` if either is unknown.
fn both<T>(a: &Option<T>, b: &Option<T>, add: impl FnOnce(&T, &T) -> T) -> Option<T> {
    Some(add(a.as_ref()?, b.as_ref()?))
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a? + b?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageCache;

    fn recording(
        seconds: f64,
        percent: f64,
        switches: Option<u64>,
        series: &[(&str, &[f64])],
    ) -> Recording {
        let series = series.iter().map(|(name, values)| Series {
            name: (*name).to_owned(),
            label: String::new(),
            unit: String::new(),
            group: String::new(),
            values: values.to_vec(),
        });
        let host = HostTotals {
            busy_s: seconds / 2.0,
            cpu_percent: percent,
            context_switches: switches,
            ..HostTotals::default()
        };
        Recording {
            series: series.collect(),
            totals: Totals { seconds, host: Some(host), ..Totals::default() },
            page_cache: PageCache::default(),
            notes: vec!["said once".to_owned()],
        }
    }

    #[test]
    fn two_recordings_are_one() {
        let first = recording(3.0, 50.0, Some(10), &[("a", &[1.0, 2.0, 3.0]), ("b", &[0.0; 3])]);
        let second = recording(1.0, 90.0, Some(5), &[("a", &[4.0]), ("c", &[7.0])]);
        let joined = first.followed_by(second);
        let values = |name: &str| {
            let series = joined.series.iter().find(|series| series.name == name).unwrap();
            series.values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(values("a"), "1 2 3 4");
        assert_eq!(values("b"), "0 0 0 NaN");
        assert_eq!(values("c"), "NaN NaN NaN 7");
        let host = joined.totals.host.unwrap();
        assert!((host.cpu_percent - 60.0).abs() < 1e-9 && (host.busy_s - 2.0).abs() < 1e-9);
        assert_eq!(host.context_switches, Some(15));
        assert!((joined.totals.seconds - 4.0).abs() < 1e-9);
        assert_eq!(joined.notes.len(), 1);
    }

    #[test]
    fn a_figure_unknown_to_one_is_unknown() {
        let first = recording(1.0, 0.0, Some(1), &[]);
        let second = recording(1.0, 0.0, None, &[]);
        let host = first.followed_by(second).totals.host.unwrap();
        assert_eq!(host.context_switches, None);
    }
}
