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

/// A setting that is the period of work in the background. The clock goes on while a server is
/// frozen, so for the same period in its own time, the value has to be larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Its name.
    pub name: &'static str,
    /// Its built-in value, in `unit`.
    pub value: u32,
    /// The highest value that all versions take, in `unit`.
    pub most: u32,
    /// `s` or `ms`.
    pub unit: &'static str,
}

impl Timer {
    /// The value for a server that has the load for one part in `parts` of the time.
    pub fn times(&self, parts: u32) -> String {
        format!("{}{}", self.value.saturating_mul(parts).min(self.most), self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_grows_with_the_number_of_servers_up_to_its_limit() {
        let timer = Timer { name: "bgwriter_delay", value: 200, most: 10_000, unit: "ms" };
        assert_eq!((&*timer.times(1), &*timer.times(3)), ("200ms", "600ms"));
        assert_eq!((timer.times(51), timer.times(u32::MAX)), ("10000ms".into(), "10000ms".into()));
    }
}
