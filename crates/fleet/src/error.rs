//! Errors of submissions.

/// Why a submission could not be made, read or merged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name can't be part of a path and of a job's name.
    #[error(
        "the name `{0}` of a submission: expected letters, digits, `.`, `-` and `_`, at most 60, \
         beginning with a letter or a digit"
    )]
    Name(String),
    /// A value can't stand in a line of a script.
    #[error("expected an option of Slurm without quotes and line ends, found `{0:?}`")]
    Wish(String),
    /// An element was run with something else than the others.
    #[error(
        "the elements of a submission must run the same programs: expected {expected}, found \
         {found}; make them alike on all machines, such as with --builds, and run it again"
    )]
    Differs {
        /// What the first element was run with.
        expected: String,
        /// What this one was run with.
        found: String,
    },
    /// A part can't be merged with the others.
    #[error("element {element}, from {host}: {source}")]
    Part {
        /// The element.
        element: u32,
        /// Its machine.
        host: String,
        /// The problem with it.
        source: Box<Error>,
    },
    /// The address lets several write the same object.
    #[error(
        "{0} writes objects that exist already, although asked not to (If-None-Match); an element \
         could count twice there: choose another address"
    )]
    NoConditions(String),
    /// Nobody could claim an element.
    #[error("element {0} could not be claimed within a minute; it is not done")]
    Unclaimed(u32),
    /// There is one of that name.
    #[error("there is a submission `{name}` at {address} already; choose another --name")]
    Taken {
        /// The name.
        name: String,
        /// Where.
        address: String,
    },
    /// There is none of that name.
    #[error("no submission `{name}` at {address}; there {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Where.
        address: String,
        /// What is there, in words.
        known: String,
    },
    /// A document at the address can't be read.
    #[error("{name} is damaged: {problem}")]
    Damaged {
        /// The document.
        name: String,
        /// The problem with it.
        problem: String,
    },
    /// The plan can't be run in elements.
    #[error("this plan can't run on many machines: {0}")]
    Unfit(String),
    /// No element is done.
    #[error("no element of `{0}` is done, so there is nothing to compare yet")]
    Nothing(String),
    /// A program of the scheduler failed.
    #[error("{program} failed: {problem}")]
    Scheduler {
        /// The program.
        program: String,
        /// Its message.
        problem: String,
    },
    /// The scheduler does not take a job.
    #[error("the scheduler does not take the job: {problem}")]
    Refused {
        /// Its message.
        problem: String,
    },
    /// The address can't be read or written.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// Results can't be read or written.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The plan can't be read.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    /// A file can't be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The file or directory.
        path: std::path::PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Error {
    /// True if the request was wrong, in which case a retry can't help.
    pub fn is_request(&self) -> bool {
        match self {
            Error::Name(_)
            | Error::Wish(_)
            | Error::Differs { .. }
            | Error::NoConditions(_)
            | Error::Taken { .. }
            | Error::Unknown { .. }
            | Error::Damaged { .. }
            | Error::Unfit(_)
            | Error::Nothing(_)
            | Error::Refused { .. }
            | Error::Plan(_) => true,
            Error::Archive(error) => error.is_request(),
            Error::Part { source, .. } => source.is_request(),
            Error::Unclaimed(_) | Error::Scheduler { .. } | Error::Store(_) | Error::Io { .. } => {
                false
            }
        }
    }

    pub(crate) fn io(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Error::Io { action, path, source }
    }
}
