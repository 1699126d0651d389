//! The counts that `perf stat` prints.

/// Events that happen in the kernel: where only user mode is visible, their count is always 0.
pub(super) const IN_KERNEL: [&str; 2] = ["context-switches", "cpu-migrations"];

/// A line of `perf stat`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Count {
    /// The event without a modifier.
    pub event: String,
    /// True if only user mode was counted (modifier `u`).
    pub user_only: bool,
    /// True if the machine does not have this counter.
    pub unsupported: bool,
    /// None if the machine does not have this counter or it never ran.
    pub value: Option<f64>,
}

/// Reads the output of `perf stat -x,`: `value,unit,event,time the counter ran,percentage of the
/// time,…` (perf-stat(1), "CSV FORMAT"). `perf` itself scales a count that ran only part of the
/// time. Times are in milliseconds. Other lines are skipped.
pub(super) fn parse(text: &str) -> Vec<Count> {
    let line = |line: &str| {
        let mut fields = line.split(',');
        let (value, _unit, event) = (fields.next()?.trim(), fields.next()?, fields.next()?.trim());
        let (event, modifier) = without_modifier(event);
        let value = match value {
            "<not supported>" | "<not counted>" => Err(value == "<not supported>"),
            number => Ok(number.parse::<f64>().ok().filter(|value| value.is_finite())?),
        };
        (!event.is_empty()).then(|| Count {
            event: event.to_owned(),
            user_only: modifier.contains('u') && !modifier.contains('k'),
            unsupported: value == Err(true),
            value: value.ok(),
        })
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect()
}

/// An event's name and its modifier, such as `u` of `cycles:u` (perf-list(1), "EVENT MODIFIERS").
/// The colon in a tracepoint's name, `sched:sched_switch`, stays.
fn without_modifier(event: &str) -> (&str, &str) {
    match event.rsplit_once(':') {
        Some((name, modifier)) if modifier.bytes().all(|byte| b"ukhIGHpPSDWeb".contains(&byte)) => {
            (name, modifier)
        }
        _ => (event, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::EVENTS;
    use proptest::prelude::*;

    #[test]
    fn counts_are_read_and_missing_ones_are_unknown() {
        let text = "# started on Sat Nov 21 19:00:00 2026\n\n\
            <not supported>,,cycles,0,100.00,,\n\
            1234567,,instructions:u,2000000,50.00,1.2,insn per cycle\n\
            12.25,msec,task-clock,12250000,100.00,0.612,CPUs utilized\n\
            3,,context-switches,12250000,100.00,,\n\
            5,,timer:hrtimer_start,12250000,100.00,,\n\
            6,,ipi:ipi_send_cpu:u,12250000,100.00,,\n\
            <not counted>,,major-faults,0,0.00,,\n\
            perf: something else\n";
        let wanted = [
            ("cycles", None),
            ("instructions", Some(1_234_567.0)),
            ("task-clock", Some(12.25)),
            ("context-switches", Some(3.0)),
            ("timer:hrtimer_start", Some(5.0)),
            ("ipi:ipi_send_cpu", Some(6.0)),
            ("major-faults", None),
        ];
        let read = parse(text);
        let found: Vec<_> = read.iter().map(|count| (count.event.as_str(), count.value)).collect();
        assert_eq!(found, wanted);
        let flagged = |flag: fn(&Count) -> bool| read.iter().map(flag).collect::<Vec<_>>();
        let (no, yes) = (false, true);
        assert_eq!(flagged(|count| count.user_only), [no, yes, no, no, no, yes, no]);
        assert_eq!(flagged(|count| count.unsupported), [yes, no, no, no, no, no, no]);
    }

    proptest! {
        #[test]
        fn anything_can_stand_in_the_file(text in "\\PC*") {
            for count in parse(&text) {
                prop_assert!(!count.event.is_empty());
            }
        }

        #[test]
        fn what_perf_writes_is_read(values in proptest::collection::vec(0_u64..1 << 53, 0..20)) {
            let event = |place: usize| EVENTS[place % EVENTS.len()];
            let line = |(place, value): (usize, &u64)| {
                format!("{value},,{},1000,100.00,,\n", event(place))
            };
            let text: String = values.iter().enumerate().map(line).collect();
            let read: Vec<_> =
                parse(&text).into_iter().map(|count| (count.event, count.value)).collect();
            let wanted = |(place, value): (usize, &u64)| (event(place).to_owned(), Some(*value as f64));
            prop_assert_eq!(read, values.iter().enumerate().map(wanted).collect::<Vec<_>>());
        }
    }
}
