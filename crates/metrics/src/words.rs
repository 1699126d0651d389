//! Words for sentences about figures.

/// `1 step`, `2 steps`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The parts of a sentence about a difference: "b *uses* 5% *more* *CPU per operation* than a",
/// "b *uses as much* …".
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The verb: `uses`.
    pub verb: &'static str,
    /// If there is no difference: `uses as much`.
    pub same: &'static str,
    /// The word for a higher value.
    pub more: &'static str,
    /// The word for a lower value.
    pub less: &'static str,
    /// The worse of the two words.
    pub worse: &'static str,
    /// The object; empty if the verb says it all.
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
