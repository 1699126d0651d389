//! The functions by which one finds one's way in a profile of a system's program.

/// What the functions of a system's program do for a statement.
#[derive(Debug)]
pub struct Landmarks {
    /// The function in which a process does what its client asks for.
    pub serves: &'static str,
    /// What it calls to pass a request on. They do little themselves, and many builds have them inlined
    /// or without a name, so what they call counts as called by [`Landmarks::serves`].
    pub passes: &'static [&'static str],
    /// The phases of a statement, in the order in which it goes through them.
    pub phases: &'static [Phase],
    /// Functions that run by the clock and not for a statement.
    pub periodic: &'static [&'static str],
}

/// One phase of a statement.
#[derive(Debug)]
pub struct Phase {
    /// Its name, such as `parse`.
    pub name: &'static str,
    /// The functions that do it: the first group of which one was called counts. Each group is called by
    /// the one before, which the compiler may have put into its caller. The members of a group are names
    /// of one thing in different versions.
    pub functions: &'static [&'static [&'static str]],
    /// Functions that do it too, or a part of it, where [`Landmarks::serves`] calls them itself.
    pub parts: &'static [&'static str],
}

impl Phase {
    /// Whether the time in `function`, called by [`Landmarks::serves`], is time of this phase: compilers
    /// and versions add to names.
    pub fn is_done_by(&self, function: &str) -> bool {
        let named = self.functions.iter().copied().flatten().chain(self.parts);
        named.into_iter().any(|name| function.starts_with(name))
    }
}

#[cfg(test)]
mod tests {
    use crate::{LANDMARKS, serving};

    #[test]
    fn every_function_belongs_to_one_phase() {
        for landmarks in LANDMARKS {
            assert_eq!(serving(landmarks.serves).map(|found| found.serves), Some(landmarks.serves));
            for phase in landmarks.phases {
                for function in phase.functions.iter().copied().flatten().chain(phase.parts) {
                    let of = landmarks.phases.iter().filter(|phase| phase.is_done_by(function));
                    assert_eq!(of.count(), 1, "{function}");
                }
            }
        }
    }
}
