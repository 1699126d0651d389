//! One plan on many machines.
//!
//! A [`Submission`] is a plan and a number of *elements*. An element is the whole plan, all its
//! blocks of all variants, on one machine; so a pair never crosses machines. Of a count, it is some
//! of the kinds of statements, of all variants. Where systems have to be fetched or built, one more
//! element, 0, does that first and puts them into the depot for all. A scheduler
//! ([`Scheduler`], [`Slurm`]) runs the elements. Each puts what it measured into the same
//! [`Depot`], and [`merge`] makes one experiment of all.
//!
//! Nothing here trusts a scheduler to run an element exactly once. An element may be started again
//! after its node was lost, while its first start still runs somewhere; every start works alone and
//! on its own results. Whoever has measured everything *claims* the element in the depot with a
//! write that only one of several writers can make. The claims are the only truth about what
//! counts, so the merged experiment is a function of them: it does not depend on when, where or in
//! which order it is made.
//!
//! ```text
//! fleet/NAME/submission.json          the plan, the seed, how many elements
//! fleet/NAME/jobs/JOB.json            a job that the scheduler has for it
//! fleet/NAME/starts/E-JOB-R.json      element E was started, where and when
//! fleet/NAME/failures/E-JOB-R.json    that start failed, and why
//! fleet/NAME/refusals/E-JOB-R.json    that it failed because its machine is not fit
//! fleet/NAME/alike.json               the programs with which the first was run
//! fleet/NAME/parts/E-JOB-R-HASH.steelyard   what that start has measured
//! fleet/NAME/claims/E.json            which part counts
//! fleet/NAME/looks/N                  the look at N elements was taken
//! fleet/NAME/programs.json           where the systems' programs are, once element 0 has them
//! fleet/NAME/canceled/AT             that somebody has canceled it
//! fleet/NAME/stop.json                the elements that decided everything: no others count
//! fleet/NAME/whole                    content hash of the merged experiment, once it was pushed
//! fleet-index/names/NAME              that there is such a submission
//! fleet-index/merged/NAME             that its experiment was pushed
//! ```

mod depot;
mod documents;
mod elsewhere;
mod error;
mod job;
mod merge;
mod patience;
mod scheduler;
mod slurm;
mod status;
mod stop;
mod submission;

pub use depot::{Depot, Named};
pub use documents::{Claim, Failed, Start, Started, Stop};
pub use elsewhere::{MACHINES, elsewhere};
pub use error::Error;
pub use job::{Job, Wishes};
pub use merge::{Growing, conclude, merge};
pub use patience::patiently;
pub use scheduler::{Queued, Scheduler, Waits};
pub use slurm::{Slurm, script};
pub use status::{Element, State, Status, Unfit, status};
pub use stop::stop_if_decided;
pub use submission::{Submission, Work};
