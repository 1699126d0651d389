//! Servers for which time stands still while others have the load.

/// Stops and continues all processes of a server. Dropping it lets them continue.
///
/// An error says what was expected, what was found and what to do.
pub trait Freeze: Send {
    /// Stops them, and returns when none of them runs anymore.
    ///
    /// # Errors
    /// If one can't be stopped in time. Some may then be stopped.
    fn freeze(&mut self) -> Result<(), String>;

    /// Lets them continue.
    ///
    /// # Errors
    /// If the kernel refuses.
    fn thaw(&mut self) -> Result<(), String>;
}

/// A setting that goes by the clock: how often work in the background is done, or how much of it in
/// a second.
///
/// The clock goes on while a server is frozen. To stay the same in the server's own time, a period
/// has to be longer and a rate lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Its name.
    pub name: &'static str,
    /// Other settings, which change the built-in value if one of them is set.
    pub unless: &'static [&'static str],
    /// Its built-in value.
    value: u64,
    /// The last value that all versions take: the highest period, or the lowest rate.
    limit: u64,
    /// Follows the value: `s`, `ms` or nothing.
    unit: &'static str,
    is_rate: bool,
}

impl Timer {
    /// A period, with its built-in value and the highest that all versions take, in `unit`.
    pub(crate) const fn period(
        name: &'static str,
        value: u64,
        most: u64,
        unit: &'static str,
    ) -> Timer {
        Timer { name, unless: &[], value, limit: most, unit, is_rate: false }
    }

    /// A rate, with its built-in value and the lowest that all versions take.
    pub(crate) const fn rate(name: &'static str, value: u64, least: u64) -> Timer {
        Timer { name, unless: &[], value, limit: least, unit: "", is_rate: true }
    }

    /// The same, for servers on which none of these is set.
    pub(crate) const fn unless(self, others: &'static [&'static str]) -> Timer {
        Timer { unless: others, ..self }
    }

    /// The value for a server that has the load for one part in `parts` of the time.
    pub fn for_parts(&self, parts: u32) -> String {
        let parts = u64::from(parts.max(1));
        let value = if self.is_rate {
            (self.value / parts).max(self.limit)
        } else {
            self.value.saturating_mul(parts).min(self.limit)
        };
        format!("{value}{}", self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_grows_with_the_number_of_servers_up_to_its_limit() {
        let timer = Timer::period("bgwriter_delay", 200, 10_000, "ms");
        assert_eq!((&*timer.for_parts(1), &*timer.for_parts(3)), ("200ms", "600ms"));
        let most = || "10000ms".to_owned();
        assert_eq!((timer.for_parts(51), timer.for_parts(u32::MAX)), (most(), most()));
    }

    #[test]
    fn a_rate_falls_with_the_number_of_servers_down_to_its_limit() {
        let timer = Timer::rate("innodb_io_capacity_max", 2000, 100);
        let values = [0, 1, 2, 3, 21].map(|parts| timer.for_parts(parts));
        assert_eq!(values, ["2000", "2000", "1000", "666", "100"]);
    }
}
