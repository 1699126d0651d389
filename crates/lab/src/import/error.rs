//! Errors in files that belong together.

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A pattern that isn't one.
    #[error("{given:?} is not a usable pattern: {why}")]
    BadPattern {
        /// The pattern.
        given: String,
        /// The reason it is wrong.
        why: String,
    },
    /// A file whose name doesn't say what its pattern asks for.
    #[error("{file}: its name does not match the pattern {pattern}{}", .why)]
    OtherName {
        /// The file.
        file: String,
        /// The pattern.
        pattern: String,
        /// Why it doesn't; may be empty.
        why: String,
    },
    /// None of the files has a figure that can be judged.
    #[error(
        "expected output of at least one benchmark program, found only what {0} saw; import it \
         together with the output of the program it watched"
    )]
    OnlyWatched(String),
    /// The output contradicts what was said about it.
    #[error(
        "{file}, line {line}: expected {wanted} clients as given, found {found}; leave the number \
         out, so that the output's counts"
    )]
    OtherDop {
        /// The file.
        file: String,
        /// The line of the test.
        line: usize,
        /// The number given.
        wanted: u32,
        /// The number the program printed.
        found: u32,
    },
    /// The same step twice in a trial.
    #[error(
        "{file}, line {line}: block {block} of {variant} has the step {step} with {dop} clients \
         twice; give each its own block, or leave out the block: then the k-th is of block k"
    )]
    Twice {
        /// The file of the second.
        file: String,
        /// Its line.
        line: usize,
        /// Number of the block.
        block: u32,
        /// The variant.
        variant: String,
        /// The step.
        step: String,
        /// Its number of clients.
        dop: u32,
    },
    /// Two things under one name.
    #[error(
        "{file}, line {line}: the step {step} is in {found} here, and in {known} in another file; \
         name them differently"
    )]
    OtherUnit {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The step.
        step: String,
        /// Its unit in this file.
        found: String,
        /// Its unit before.
        known: String,
    },
    /// Variants would be compared that were run differently.
    #[error(
        "settings differ between variants that would be compared; run them alike, or import them \
         with --allow-different-settings:\n  {}",
        .0.join("\n  ")
    )]
    OtherSettings(Vec<String>),
    /// One name for several steps.
    #[error(
        "{file}: the step's name {step} was given, but the file has the tests {}; leave out the \
         name, or import the tests from files of their own",
        .found.join(", ")
    )]
    SeveralSteps {
        /// The file.
        file: String,
        /// The name given.
        step: String,
        /// The tests.
        found: Vec<String>,
    },
    /// Output of a watching program that could belong to several steps, or to none.
    #[error(
        "{file}: what {program} saw belongs to one step of a trial, but block {block} of {variant} \
         has {steps}; import it with output of a single test with the same variant and block, or \
         name the step of each with {{step}} in --pattern"
    )]
    WatchedWhat {
        /// The file.
        file: String,
        /// The program.
        program: &'static str,
        /// The block it would belong to.
        block: u32,
        /// Its variant.
        variant: String,
        /// How many steps are there.
        steps: usize,
    },
    /// No device of this name.
    #[error(
        "expected a device that the files have ({}), found {given}",
        if .known.is_empty() { "none has any".to_owned() } else { .known.join(", ") }
    )]
    NoDevice {
        /// The device given.
        given: String,
        /// The devices.
        known: Vec<String>,
    },
    /// No variant of this name.
    #[error("expected the base to be one of {}, found {base}", .known.join(", "))]
    UnknownBase {
        /// The variant given.
        base: String,
        /// The variants.
        known: Vec<String>,
    },
    /// It cannot be written.
    #[error(transparent)]
    Store(#[from] store::StoreError),
}

impl ImportError {
    /// True if the request was wrong, so repeating it can't help.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Store(error) => error.is_request(),
            _ => true,
        }
    }
}
