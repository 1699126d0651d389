//! An element whose machine is not fit runs on another.

use crate::depot::Depot;
use crate::documents::Failed;
use crate::error::Error;
use crate::job::Job;
use crate::scheduler::Scheduler;
use crate::slurm::script;

/// How many machines may refuse an element. More suggest that the plan asks too much.
pub const MACHINES: usize = 3;

/// Notes that a machine was refused and submits the element again, without any machine that an
/// element of this submission has refused. `command` are the words that run an element. `None` if
/// this was the last of [`MACHINES`].
///
/// It is a job of its own. Slurm changes the excluded machines of jobs that wait, not of those that
/// run, and a job that puts itself back into the queue is killed before it could do so.
///
/// # Errors
/// If the depot can't be asked, or the scheduler does not take it: then the element failed.
pub fn elsewhere(
    depot: &Depot,
    scheduler: &dyn Scheduler,
    refused: &Failed,
    command: &[String],
    now_ms: i64,
) -> Result<Option<Job>, Error> {
    depot.add_refusal(refused)?;
    let (submission, element) = (depot.submission(), refused.started.start.element);
    let refusals = depot.refusals()?;
    let own = refusals.iter().filter(|it| it.started.start.element == element).count();
    if own >= MACHINES {
        return Ok(None);
    }
    let hosts = refusals.iter().map(|it| it.started.host.as_str());
    let wishes = submission.wishes.without(hosts);
    wishes.check()?;
    let elements = vec![element];
    let number = scheduler.submit(&script(&submission.name, &elements, &wishes, command, None))?;
    let job = Job { job: number, elements, at_ms: now_ms };
    // Otherwise the job itself notes it when it begins.
    depot.add_job(&job)?;
    Ok(Some(job))
}
