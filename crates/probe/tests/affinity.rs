//! Real processes and threads on chosen CPUs.
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::{Pid, gettid};
use probe::{AffinityError, affinity_of, pin_thread, pin_thread_to};

fn asked(tid: u32) -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(tid.cast_signed())).unwrap();
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap()).collect()
}

struct Sleeper(Child);

impl Sleeper {
    fn start(command: &mut Command) -> Sleeper {
        Sleeper(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_goes_where_it_is_told_and_back() {
    let sleeper = Sleeper::start(Command::new("sleep").arg("600"));
    let pid = sleeper.0.id();
    let before = affinity_of(pid).unwrap();
    let usable = asked(pid);
    for cpu in &usable {
        pin_thread(pid, *cpu).unwrap();
        assert_eq!((affinity_of(pid).unwrap(), asked(pid)), (vec![*cpu], vec![*cpu]));
    }
    pin_thread_to(pid, &before).unwrap();
    assert_eq!((affinity_of(pid).unwrap(), asked(pid)), (before, usable));
}

#[test]
fn a_thread_is_moved_alone() {
    let own = gettid().as_raw().cast_unsigned();
    let before = affinity_of(own).unwrap();
    let last = *asked(own).last().unwrap();
    let (tell, told) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        tell.send(gettid().as_raw().cast_unsigned()).unwrap();
        let _ = ended.recv();
    });
    let tid = told.recv().unwrap();
    pin_thread(tid, last).unwrap();
    assert_eq!(affinity_of(tid).unwrap(), [last]);
    assert_eq!(affinity_of(own).unwrap(), before);
    drop(end);
    thread.join().unwrap();
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    let sleeper = Sleeper::start(Command::new("sleep").arg("600"));
    for missing in [1000, 100_000] {
        let error = pin_thread(sleeper.0.id(), missing).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(&format!("expected CPU {missing} to be usable by process")),
            "{text}"
        );
        assert!(matches!(error, AffinityError::NoSuchCpu { .. }));
    }
}

#[test]
fn an_ended_process_is_gone() {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    for result in [pin_thread(child.id(), 0), affinity_of(child.id()).map(drop)] {
        assert!(matches!(result, Err(AffinityError::Gone { .. })), "{result:?}");
    }
    // For the kernel, 0 is the caller.
    assert!(matches!(pin_thread(0, 0), Err(AffinityError::Gone { tid: 0 })));
}

#[test]
fn processes_of_others_need_a_permission() {
    let given = testing::given();
    if let Some(path) = given {
        // As another user: the process whose number the name of the path is.
        let pid: u32 = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        assert!(!affinity_of(pid).unwrap().is_empty());
        let error = pin_thread(pid, asked(pid)[0]).unwrap_err();
        assert!(matches!(error, AffinityError::NotPermitted { owner: Some(0), .. }), "{error}");
        assert!(error.to_string().contains("belongs to uid 0; run as root or with CAP_SYS_NICE"));
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        return testing::skip("needs root, to become another user");
    }
    let sleeper = Sleeper::start(Command::new("sleep").arg("600"));
    let path = std::path::PathBuf::from(sleeper.0.id().to_string());
    let before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    let output = testing::again(&before, &path).output();
    match output {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => testing::skip(format!("setpriv cannot be run: {error}")),
    }
}
