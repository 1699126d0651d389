//! Random faults while elements of submissions run: whatever fails, each element counts once. A
//! hundred take a quarter of an hour:
//!
//! ```sh
//! STEELYARD_FAULTS=100 STEELYARD_SEED=1 \
//!     cargo test -p steelyard --test command -- --nocapture faults
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::database::Database;
use crate::fleet::assert_nothing_left;
use crate::slurm::Slurm;

const NODES: usize = 3;
/// Elements of a submission.
const ELEMENTS: usize = 12;
const BLOCKS: i64 = 2;

/// Something that goes wrong, and is mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// An element's process is killed.
    ElementKilled,
    /// An element stands still, and goes on.
    ElementStopped,
    /// Somebody starts an element that runs.
    StartedTwice,
    /// A node's daemon is killed and comes back at once.
    DaemonKilled,
    /// It comes back after Slurm has given the node up and its element to another.
    NodeLost,
    /// The controller is killed and started again.
    ControllerKilled,
    /// The storage answers nobody.
    StorageStopped,
    /// A node reaches nobody.
    NetworkCut,
}

impl Fault {
    const ALL: [Fault; 8] = [
        Fault::ElementKilled,
        Fault::ElementStopped,
        Fault::StartedTwice,
        Fault::DaemonKilled,
        Fault::NodeLost,
        Fault::ControllerKilled,
        Fault::StorageStopped,
        Fault::NetworkCut,
    ];
}

/// SplitMix64, after Steele, Lea and Flood (2014).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn wait(&mut self, most_ms: usize) {
        std::thread::sleep(Duration::from_millis(self.below(most_ms) as u64));
    }
}

/// The cluster, and what was submitted to it.
struct Trouble {
    slurm: Slurm,
    random: Random,
    submissions: usize,
    /// Elements that were started by hand.
    extra: Vec<Child>,
}

impl Trouble {
    fn name(&self) -> String {
        format!("t{}", self.submissions)
    }

    /// A command that must succeed; one that the controller or the storage refused is repeated.
    fn run(&self, words: &[&str]) -> String {
        let mut said = String::new();
        self.slurm.wait_until(&format!("{words:?} succeeds"), || {
            let (text, code) = self.slurm.run(words);
            said = text;
            code == Some(0)
        });
        said
    }

    fn submit(&mut self) {
        self.submissions += 1;
        let name = self.name();
        let file = self.slurm.path().join("home/plan.toml");
        let text = format!(
            "name = \"{name}\"\nbase = \"a\"\nblocks = {BLOCKS}\nsteal_limit = 1.0\n\
             [variants.a]\ndbms = \"none\"\n[variants.b]\ndbms = \"none\"\n\
             [workload.program]\n[[workload.program.steps]]\nname = \"wait\"\n\
             command = \"sleep 0.3\"\n"
        );
        fs::write(&file, text).unwrap();
        let (file, elements) = (file.display().to_string(), ELEMENTS.to_string());
        let said = self.run(&["submit", &file, "--machines", &elements, "--name", &name]);
        assert!(said.contains(&format!("submitted `{name}`")), "{said}");
    }

    /// Waits until an element runs, and does what a person would do for that.
    fn keep_busy(&mut self) {
        let begin = Instant::now();
        while self.slurm.elements().is_empty() {
            assert!(begin.elapsed() < crate::slurm::LIMIT, "nothing runs:\n{}", self.slurm.logs());
            if self.go_on() {
                self.submit();
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Has what failed run again; true if all is done.
    fn go_on(&mut self) -> bool {
        let name = self.name();
        let said = self.run(&["status", &name]);
        if said.contains(" failed") || said.contains(" lost") {
            self.run(&["submit", "--resume", &name]);
        }
        self.mend();
        said.contains(&format!("{ELEMENTS} of {ELEMENTS} elements done"))
    }

    /// Waits until all is done; the number of starts that it took.
    fn finish(&mut self) -> u64 {
        let begin = Instant::now();
        while !self.go_on() {
            assert!(begin.elapsed() < crate::slurm::LIMIT, "{}", self.slurm.logs());
            std::thread::sleep(Duration::from_millis(500));
        }
        let text = self.run(&["status", &self.name(), "--format", "json"]);
        let all: serde_json::Value = serde_json::from_str(&text).unwrap();
        let elements = all[0]["status"]["elements"].as_array().unwrap();
        assert!(elements.iter().all(|it| it["state"] == "done"), "{text}");
        elements.iter().map(|it| it["starts"].as_u64().unwrap()).sum()
    }

    /// What the cluster's owner does: nodes that Slurm has taken out of service come back, and jobs
    /// that it holds go on.
    fn mend(&self) {
        for node in 1..=NODES {
            let node = format!("nodename=n{node}");
            self.slurm.command("scontrol", &["update", &node, "state=resume"]);
        }
        let held = self.slurm.command("squeue", &["-h", "-r", "-t", "PD", "-o", "%i %r"]).stdout;
        for line in String::from_utf8(held).unwrap().lines() {
            if let Some((job, reason)) = line.split_once(' ')
                && reason.to_lowercase().contains("held")
            {
                self.slurm.command("scontrol", &["release", job]);
            }
        }
    }

    /// One of the elements that run.
    fn element(&mut self) -> Option<Pid> {
        let all = self.slurm.elements();
        (!all.is_empty()).then(|| all[self.random.below(all.len())])
    }

    /// Does it, and undoes it; false if that is impossible now.
    fn happen(&mut self, fault: Fault) -> bool {
        self.random.wait(1000);
        let node = 1 + self.random.below(NODES);
        match fault {
            Fault::ElementKilled => {
                let Some(element) = self.element() else { return false };
                kill(element, Signal::SIGKILL).is_ok()
            }
            Fault::ElementStopped => {
                let Some(element) = self.element() else { return false };
                let stopped = kill(element, Signal::SIGSTOP).is_ok();
                self.random.wait(4000);
                // Slurm may have ended it.
                let _ = kill(element, Signal::SIGCONT);
                stopped
            }
            Fault::StartedTwice => {
                let Some(element) = self.element() else { return false };
                let words = fs::read_to_string(format!("/proc/{element}/cmdline"));
                let words = words.unwrap_or_default();
                let words: Vec<&str> = words.split_terminator('\0').collect();
                let [program, words @ ..] = &words[..] else { return false };
                self.extra.push(self.slurm.background(node, program, words));
                true
            }
            Fault::DaemonKilled => {
                self.slurm.lose_node(node);
                self.random.wait(3000);
                self.slurm.start_node(node);
                true
            }
            Fault::NodeLost => {
                self.slurm.lose_node(node);
                let down = format!("n{node}");
                self.slurm.wait_until("the node is given up", || {
                    let words = ["-h", "-n", &down, "-o", "%t"];
                    let state = String::from_utf8(self.slurm.command("sinfo", &words).stdout);
                    let state = state.unwrap();
                    // Slurm takes a node out of service if it still runs what it is given again.
                    state.contains("down") || state.contains("drain")
                });
                self.random.wait(2000);
                self.slurm.start_node(node);
                true
            }
            Fault::ControllerKilled => {
                self.slurm.lose_controller();
                self.random.wait(3000);
                self.slurm.start_controller();
                self.slurm.wait_until("the controller answers", || {
                    self.slurm.command("scontrol", &["ping"]).status.success()
                });
                true
            }
            Fault::StorageStopped => {
                let storage = self.slurm.storage().unwrap();
                kill(storage, Signal::SIGSTOP).unwrap();
                self.random.wait(5000);
                kill(storage, Signal::SIGCONT).unwrap();
                true
            }
            Fault::NetworkCut => {
                self.slurm.connect(node, false);
                self.random.wait(5000);
                self.slurm.connect(node, true);
                true
            }
        }
    }
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn every_element_counts_once_whatever_fails() {
    let Some(slurm) = Slurm::start_with_moto(NODES) else { return };
    let faults = number("STEELYARD_FAULTS", 25);
    let seed = number("STEELYARD_SEED", 20_261_124);
    let begin = Instant::now();
    let (random, extra) = (Random(seed as u64), Vec::new());
    let mut trouble = Trouble { slurm, random, submissions: 0, extra };
    trouble.submit();
    let mut counted: BTreeMap<Fault, usize> = BTreeMap::new();
    while counted.values().sum::<usize>() < faults {
        trouble.keep_busy();
        let busy = begin.elapsed();
        let fault = Fault::ALL[trouble.random.below(Fault::ALL.len())];
        if trouble.happen(fault) {
            *counted.entry(fault).or_default() += 1;
            let [busy, mended] = [busy, begin.elapsed()].map(|it| it.as_secs_f64());
            println!("{busy:.1} s: {fault:?}, mended at {mended:.1} s");
        }
    }
    let (mut starts, submissions) = (0, trouble.submissions);
    for submission in (1..=submissions).rev() {
        trouble.submissions = submission;
        starts += trouble.finish();
    }
    for mut child in std::mem::take(&mut trouble.extra) {
        child.wait().unwrap();
    }
    // What was killed is removed by the next start on a machine.
    trouble.submissions = submissions;
    trouble.submit();
    trouble.finish();
    let submissions = trouble.submissions;
    let slurm = &trouble.slurm;
    slurm.wait_until("nothing runs", || slurm.elements().is_empty());
    assert_nothing_left(slurm);
    let pulled = slurm.path().join("home/pulled");
    let words = ["pull", &slurm.address(), "--results", pulled.to_str().unwrap()];
    let output = slurm.command(slurm.steelyard().to_str().unwrap(), &words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let database = Database::of(&pulled);
    let mut names = database.texts("SELECT name FROM experiment");
    assert_eq!(names.len(), submissions, "{names:?}");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), submissions, "each once");
    for name in &names {
        let sql = format!(
            "SELECT v.name || ' ' || t.block FROM trial t JOIN variant v ON v.id = t.variant_id \
             JOIN experiment e ON e.id = t.experiment_id \
             WHERE e.name = '{name}' AND t.state = 'finished' ORDER BY t.block, v.name"
        );
        let expected: Vec<String> = (1..=BLOCKS * ELEMENTS as i64)
            .flat_map(|block| ["a", "b"].map(|variant| format!("{variant} {block}")))
            .collect();
        assert_eq!(database.texts(&sql), expected, "{name}");
    }
    let elements = submissions * ELEMENTS;
    println!(
        "{faults} faults (seed {seed}) in {:.0} s: {counted:?}; {elements} elements of \
         {submissions} submissions, {starts} starts before the last submission",
        begin.elapsed().as_secs_f64()
    );
}
