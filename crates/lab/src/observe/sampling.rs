//! The kernel's figures for the measured part of a step.

use std::time::{Duration, Instant};

use probe::{Recording, Sampler, Targets};

/// The samplers of a step, one for each server.
#[derive(Debug, Default)]
pub struct Sampling(Vec<Sampled>);

#[derive(Debug)]
struct Sampled {
    targets: Targets,
    sampler: Option<Sampler>,
    /// The recording of samplers that have ended.
    recording: Option<Recording>,
}

impl Sampling {
    /// Prepares to sample these targets.
    pub fn of(targets: impl IntoIterator<Item = Targets>) -> Sampling {
        let sampled = |targets| Sampled { targets, sampler: None, recording: None };
        Sampling(targets.into_iter().map(sampled).collect())
    }

    /// Starts sampling: the measured part begins at `start`, possibly again.
    pub fn begin(&mut self, start: Instant) {
        for one in &mut self.0 {
            let sampler = Sampler::start(one.targets.clone(), start, Duration::from_secs(1));
            one.sampler = Some(sampler);
        }
    }

    /// Stops sampling, if it is running: the measured part ends or pauses.
    pub fn stop(&mut self) {
        for one in &mut self.0 {
            let Some(sampler) = one.sampler.take() else { continue };
            let recording = sampler.stop();
            one.recording = Some(match one.recording.take() {
                Some(earlier) => earlier.followed_by(recording),
                None => recording,
            });
        }
    }

    /// Ends sampling. Returns the recording of each server, in their order.
    pub fn end(&mut self) -> Vec<Recording> {
        self.stop();
        self.0.iter_mut().filter_map(|one| one.recording.take()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_again_is_one_recording_without_the_pause() {
        let targets = Targets { driver: true, ..Targets::default() };
        let mut sampling = Sampling::of([targets.clone(), targets]);
        sampling.begin(Instant::now());
        sampling.stop();
        sampling.begin(Instant::now());
        sampling.stop();
        assert_eq!(sampling.end().len(), 2);
        assert!(sampling.end().is_empty());
    }
}
