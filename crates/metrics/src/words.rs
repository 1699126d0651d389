//! How a difference of a metric reads.

/// The parts of a sentence about a difference: "b *uses* 5% *more* *CPU per operation* than a",
/// "b *uses as much* …".
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// What it does: `uses`.
    pub verb: &'static str,
    /// Where there is no difference: `uses as much`.
    pub same: &'static str,
    /// Where there is more of it.
    pub more: &'static str,
    /// Where there is less of it.
    pub less: &'static str,
    /// The one of the two that is worse.
    pub worse: &'static str,
    /// Of what; empty where the verb says it.
    pub what: &'static str,
}

pub(crate) const SPEED: Words = Words {
    verb: "is",
    same: "is as fast",
    more: "faster",
    less: "slower",
    worse: "slower",
    what: "",
};

pub(crate) const fn takes(what: &'static str) -> Words {
    Words { verb: "takes", same: "takes as much", ..uses(what) }
}

pub(crate) const fn uses(what: &'static str) -> Words {
    Words { verb: "uses", same: "uses as much", more: "more", less: "less", worse: "more", what }
}

pub(crate) const fn reads(what: &'static str) -> Words {
    Words { verb: "reads", same: "reads as much", ..uses(what) }
}

pub(crate) const fn writes(what: &'static str) -> Words {
    Words { verb: "writes", same: "writes as much", ..uses(what) }
}

pub(crate) const fn does(what: &'static str) -> Words {
    Words { verb: "does", same: "does as many", less: "fewer", ..uses(what) }
}

pub(crate) const fn has(what: &'static str) -> Words {
    Words {
        verb: "has a",
        same: "has the same",
        more: "higher",
        less: "lower",
        worse: "higher",
        what,
    }
}
