//! Names of the series that several crates use: values per second or per slice.

/// Group of the series of throughput.
pub const THROUGHPUT: &str = "throughput";
/// Group of the series of a system's own state, such as the shape of its tree.
pub const STATE: &str = "state";
/// Group of the series of slices.
pub const SLICES: &str = "slices";

/// Rate in each slice.
pub const SLICE_RATES: &str = "slice.o/s";
/// Planned length of each slice, milliseconds.
pub const SLICE_LENGTHS: &str = "slice.length";
/// Why a slice has no rate, as [`SliceReason`].
pub const SLICE_REASONS: &str = "slice.reason";
/// CPU that servers without the load used in each slice, percent.
pub const SLICE_IDLE: &str = "slice.idle";
/// Share of each slice in which others had the CPUs of server and clients, percent.
pub const SLICE_LOST: &str = "slice.lost";
/// KB written to the device per second of each slice.
pub const SLICE_WRITTEN: &str = "slice.written";

/// Series of the operations per second of a class of statements.
pub fn throughput_of(class: &str) -> String {
    format!("tp.{class}")
}

/// Series of the longest response time of a class of statements in each second, microseconds.
pub fn longest_of(class: &str) -> String {
    format!("lat.{class}")
}

/// Says if a slice has a rate, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceReason {
    /// It was measured.
    Measured = 0,
    /// Set aside: a server that should have been idle worked.
    IdleServer = 1,
    /// Set aside: more was written to the device than this server's own writes.
    Writeback = 2,
    /// One of the clients never came: another server held it, or it had nothing left to do.
    NotMeasured = 3,
    /// Set aside: the hypervisor had the CPU.
    Stolen = 4,
    /// Set aside: other processes had the CPU.
    Crowded = 5,
}

impl SliceReason {
    /// All of them, each at the place of its number.
    pub const ALL: [Self; 6] = [
        Self::Measured,
        Self::IdleServer,
        Self::Writeback,
        Self::NotMeasured,
        Self::Stolen,
        Self::Crowded,
    ];

    /// The value stored in [`SLICE_REASONS`].
    pub fn value(self) -> f64 {
        f64::from(self as u8)
    }

    /// In plain words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::IdleServer => "set aside: a server that should have been idle worked",
            Self::Writeback => {
                "set aside: more was written to the device than this server writes itself"
            }
            Self::NotMeasured => {
                "not measured: another server held a client, or a client had nothing left to do"
            }
            Self::Stolen => "set aside: the hypervisor had the CPU",
            Self::Crowded => "set aside: other programs had the CPU",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SliceReason;

    #[test]
    fn every_reason_stands_at_its_number() {
        for (place, reason) in SliceReason::ALL.into_iter().enumerate() {
            assert!((reason.value() - place as f64).abs() < 1e-15, "{reason:?}");
        }
    }
}
