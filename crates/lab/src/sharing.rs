//! Which steps several servers can share, and how.

use workload::{Effect, End, Pace, Role, Step, Stream};

/// Checks that a step can move between running servers and changes them alike.
pub fn shares(step: &Step, inside: bool) -> Result<(), &'static str> {
    can_slice(step, inside)?;
    grows_alike(step)
}

/// Checks that a step is more than one operation. The error is the reason why it has no slices.
pub fn runs_on(step: &Step) -> Result<(), &'static str> {
    let once = |stream: &Stream| {
        let one = stream.end == End::Rounds(1) && stream.turns.is_empty();
        stream.role == Role::Lead && (stream.class.effect == Effect::Defines || one)
    };
    if step.streams.iter().any(once) || step.runs_in_order() {
        return Err("its operations run once and take long");
    }
    Ok(())
}

/// Checks that a step's work can move between running servers at all. `inside`: its clients are in
/// the processes of the servers. The error is the reason it can't.
pub fn can_slice(step: &Step, inside: bool) -> Result<(), &'static str> {
    runs_on(step)?;
    if inside && !step.is_timed() {
        return Err("its clients are in the engines' processes, and it ends when its work is done");
    }
    let mut leading = step.streams.iter().filter(|stream| stream.role == Role::Lead);
    if step.streams.iter().any(|stream| stream.class.effect == Effect::Holds) {
        return Err("it holds a transaction open");
    }
    if leading.clone().any(|stream| stream.reconnect.is_some()) {
        return Err("its clients reconnect");
    }
    if leading.clone().any(|stream| !stream.turns.is_empty()) {
        return Err("it sends a log again");
    }
    if step.thinks() || leading.all(|stream| stream.pace != Pace::Free) {
        return Err("its rate is fixed");
    }
    Ok(())
}

/// Checks that a step leaves the data as it found it, or makes it grow in the same way on all
/// servers. The error is the reason it doesn't.
pub fn grows_alike(step: &Step) -> Result<(), &'static str> {
    let reads_or_adds = |s: &Stream| matches!(s.class.effect, Effect::Reads | Effect::Adds);
    if step.streams.iter().all(reads_or_adds) {
        Ok(())
    } else {
        Err("it changes rows: work for vacuum builds up and can fall into any slice")
    }
}

/// True if all that its clients do is read.
pub fn changes_nothing(step: &Step) -> bool {
    let reads = |stream: &Stream| stream.class.effect == Effect::Reads;
    !step.streams.is_empty() && step.streams.iter().all(reads)
}

/// True if the clients that send as fast as they get answers only read.
pub fn only_reads(step: &Step) -> bool {
    let writes = |stream: &Stream| {
        stream.role == Role::Lead
            && stream.pace == Pace::Free
            && stream.class.effect != Effect::Reads
    };
    !step.streams.iter().any(writes)
}
