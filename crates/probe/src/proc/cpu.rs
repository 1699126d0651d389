//! `/proc/stat`: CPU time of the host, switches, interrupts, the run queue.

/// CPU time of all CPUs since boot, in ticks (`sysconf(_SC_CLK_TCK)` per second).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuTicks {
    pub(crate) user: u64,
    pub(crate) nice: u64,
    pub(crate) system: u64,
    pub(crate) idle: u64,
    pub(crate) iowait: u64,
    pub(crate) irq: u64,
    pub(crate) softirq: u64,
    pub(crate) steal: u64,
}

impl CpuTicks {
    fn all(&mut self) -> [&mut u64; 8] {
        let CpuTicks { user, nice, system, idle, iowait, irq, softirq, steal } = self;
        [user, nice, system, idle, iowait, irq, softirq, steal]
    }

    /// All ticks. Guest time is not added: the kernel counts it in user time already.
    pub(crate) fn total(mut self) -> u64 {
        self.all().into_iter().fold(0, |sum, ticks| sum.saturating_add(*ticks))
    }

    /// The difference since `before`. Idle and iowait can run backwards in the kernel; then 0.
    pub(crate) fn since(mut self, mut before: CpuTicks) -> CpuTicks {
        for (now, before) in self.all().into_iter().zip(before.all()) {
            *now = now.saturating_sub(*before);
        }
        self
    }

    /// User time as vmstat prints it: nice included.
    pub(crate) fn vmstat_user(&self) -> u64 {
        self.user.saturating_add(self.nice)
    }

    /// System time as vmstat prints it: interrupts included.
    pub(crate) fn vmstat_system(&self) -> u64 {
        self.system.saturating_add(self.irq).saturating_add(self.softirq)
    }
}

/// The parts of `/proc/stat` used here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SystemStat {
    pub(crate) cpu: CpuTicks,
    /// How many CPUs are online.
    pub(crate) cpus: u32,
    pub(crate) interrupts: Option<u64>,
    pub(crate) context_switches: Option<u64>,
    /// Tasks that run or could run, including the reader.
    pub(crate) running: Option<u64>,
    /// Tasks waiting for a disk.
    pub(crate) blocked: Option<u64>,
}

/// `None` without a `cpu` line of at least user, nice, system and idle.
pub(crate) fn parse(text: &str) -> Option<SystemStat> {
    let mut stat = SystemStat::default();
    let mut found = false;
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let key = words.next().unwrap_or("");
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        match key {
            "cpu" => {
                for (place, ticks) in stat.cpu.all().into_iter().enumerate() {
                    // The first four are in every kernel.
                    *ticks = if place < 4 { number()? } else { number().unwrap_or(0) };
                }
                found = true;
            }
            cpu if cpu.starts_with("cpu") => stat.cpus += 1,
            "intr" => stat.interrupts = number(),
            "ctxt" => stat.context_switches = number(),
            "procs_running" => stat.running = number(),
            "procs_blocked" => stat.blocked = number(),
            _ => {}
        }
    }
    found.then_some(stat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_a_current_kernel() {
        let text = "cpu  3145 7 2649 135935 377 1 61 11 5 0\n\
                    cpu0 1169 0 865 69039 22 0 12 2 0 0\n\
                    intr 208379 0 0 13\nctxt 428584\nbtime 1795250882\nprocesses 7229\n\
                    procs_running 4\nprocs_blocked 2\nsoftirq 159114 0 13524\n";
        let stat = parse(text).unwrap();
        assert_eq!(stat.cpu.user, 3145);
        assert_eq!(stat.cpu.steal, 11);
        assert_eq!(stat.cpu.total(), 3145 + 7 + 2649 + 135_935 + 377 + 1 + 61 + 11);
        assert_eq!(stat.cpu.vmstat_user(), 3152);
        assert_eq!(stat.cpu.vmstat_system(), 2649 + 1 + 61);
        assert_eq!(stat.interrupts, Some(208_379));
        assert_eq!(stat.context_switches, Some(428_584));
        assert_eq!((stat.running, stat.blocked), (Some(4), Some(2)));
    }

    #[test]
    fn reads_an_old_kernel_without_iowait_and_steal() {
        let stat = parse("cpu 10 20 30 40\ncpu0 10 20 30 40\nctxt 9\n").unwrap();
        assert_eq!(stat.cpu.total(), 100);
        assert_eq!(stat.running, None);
    }

    #[test]
    fn ticks_running_backwards_count_nothing() {
        let before = parse("cpu 1 1 1 100 50").unwrap().cpu;
        let after = parse("cpu 2 1 1 99 49").unwrap().cpu;
        assert_eq!(after.since(before).total(), 1);
    }

    #[test]
    fn a_text_without_the_cpu_line_is_refused() {
        assert_eq!(parse("ctxt 9\n"), None);
        assert_eq!(parse("cpu 1 2 x 4\n"), None);
    }

    proptest! {
        #[test]
        fn ticks_are_found_among_anything(
            ticks in prop::array::uniform8(0_u64..1 << 50), other in "(x[ 0-9a-z]{0,30}\n){0,4}",
            text in "[ 0-9a-z\n]{0,200}",
        ) {
            let numbers = ticks.map(|number| number.to_string()).join(" ");
            let stat = parse(&format!("{other}cpu  {numbers} 0 0\nctxt 7\n{other}")).unwrap();
            prop_assert_eq!(stat.cpu.total(), ticks.iter().sum::<u64>());
            prop_assert_eq!(stat.cpu.vmstat_system(), ticks[2] + ticks[5] + ticks[6]);
            prop_assert_eq!(stat.context_switches, Some(7));
            prop_assert!(parse(&text).is_none() || text.contains("cpu "));
        }
    }
}
