//! The events to count.

/// The events to count if the machine has them: first those of the CPU, then those of the kernel.
pub const COUNTERS: [&str; 10] = [
    "instructions",
    "cycles",
    "branch-misses",
    "cache-misses",
    "task-clock",
    "context-switches",
    "cpu-migrations",
    "page-faults",
    "minor-faults",
    "major-faults",
];

/// Reads the output of `perf stat -x,`: `value,unit,event,time the counter ran,percentage of the
/// time,…` (perf-stat(1), "CSV FORMAT"). `perf` itself scales a count that ran only part of the
/// time. Times are in milliseconds. Other lines are skipped. An event has no modifier such as `:u`,
/// and no value if the machine has no such counter or it never ran.
pub(super) fn parse(text: &str) -> Vec<(String, Option<f64>)> {
    let line = |line: &str| {
        let mut fields = line.split(',');
        let (value, _unit, event) = (fields.next()?.trim(), fields.next()?, fields.next()?.trim());
        let event = event.split(':').next().filter(|event| !event.is_empty())?.to_owned();
        let value = match value {
            "<not supported>" | "<not counted>" => None,
            number => Some(number.parse::<f64>().ok().filter(|value| value.is_finite())?),
        };
        Some((event, value))
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_are_read_and_missing_ones_are_unknown() {
        let text = "# started on Sat Nov 21 19:00:00 2026\n\n\
            <not supported>,,cycles,0,100.00,,\n\
            1234567,,instructions:u,2000000,50.00,1.2,insn per cycle\n\
            12.25,msec,task-clock,12250000,100.00,0.612,CPUs utilized\n\
            3,,context-switches,12250000,100.00,,\n\
            <not counted>,,major-faults,0,0.00,,\n\
            perf: something else\n";
        let wanted = [
            ("cycles", None),
            ("instructions", Some(1_234_567.0)),
            ("task-clock", Some(12.25)),
            ("context-switches", Some(3.0)),
            ("major-faults", None),
        ];
        assert_eq!(parse(text), wanted.map(|(event, value)| (event.to_owned(), value)));
    }

    proptest! {
        #[test]
        fn anything_can_stand_in_the_file(text in "\\PC*") {
            for (event, _) in parse(&text) {
                prop_assert!(!event.is_empty());
            }
        }

        #[test]
        fn what_perf_writes_is_read(values in proptest::collection::vec(0_u64..1 << 53, 0..12)) {
            let line = |(place, value): (usize, &u64)| {
                format!("{value},,{},1000,100.00,,\n", COUNTERS[place % COUNTERS.len()])
            };
            let text: String = values.iter().enumerate().map(line).collect();
            let read: Vec<_> = parse(&text).into_iter().map(|(_, value)| value).collect();
            let wanted: Vec<_> = values.iter().map(|value| Some(*value as f64)).collect();
            prop_assert_eq!(read, wanted);
        }
    }
}
