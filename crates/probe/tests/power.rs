//! Idle states, clock rates and energy from copies of `/sys`.
use std::path::Path;

use probe::{NoEnergy, Power};
use proptest::prelude::*;

fn write(path: impl AsRef<Path>, text: impl ToString) {
    std::fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    std::fs::write(path, format!("{}\n", text.to_string())).unwrap();
}

fn write_state(sys: &Path, cpu: usize, state: usize, name: &str, time: u64, usage: u64) {
    let directory = sys.join(format!("devices/system/cpu/cpu{cpu}/cpuidle/state{state}"));
    write(directory.join("name"), name);
    write(directory.join("time"), time);
    write(directory.join("usage"), usage);
}

fn write_domain(sys: &Path, directory: &str, name: &str, energy: u64, highest: u64) {
    let directory = sys.join("class/powercap").join(directory);
    write(directory.join("name"), name);
    write(directory.join("energy_uj"), energy);
    write(directory.join("max_energy_range_uj"), highest);
}

#[test]
fn a_machine_with_everything() {
    let root = tempfile::tempdir().unwrap();
    let sys = root.path();
    for cpu in 0..12 {
        let number = cpu as u64;
        write_state(sys, cpu, 0, "POLL", 1_000 * number, number);
        write_state(sys, cpu, 1, "C1E", 500, 7);
        write_state(sys, cpu, 10, "C10", 9_000, 3);
        write(sys.join(format!("devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq")), 2_000_000);
    }
    write_domain(sys, "intel-rapl:0", "package-0", 262_143_000_000, 262_143_328_850);
    write_domain(sys, "intel-rapl:0:0", "core", 5_000_000, 262_143_328_850);
    write_domain(sys, "intel-rapl:1", "package-1", 1_000_000, 262_143_328_850);
    write_domain(sys, "intel-rapl-mmio:0", "package-0", 77, 262_143_328_850);
    write(sys.join("class/powercap/intel-rapl/enabled"), 1);
    let begin = std::time::Instant::now();
    let before = Power::read(sys);
    for cpu in 0..12 {
        // CPU 2 was offline in between and began again; CPU 3 stopped to be.
        let number = if cpu == 2 { 0 } else { cpu as u64 };
        write_state(sys, cpu, 0, "POLL", 1_000 * number + 100, number + 2);
        write_state(sys, cpu, 10, "C10", 9_000 + 1_000 * number, 3 + number);
        write(sys.join(format!("devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq")), 3_000_000);
    }
    std::fs::remove_dir_all(sys.join("devices/system/cpu/cpu3")).unwrap();
    write_domain(sys, "intel-rapl:0", "package-0", 671_150, 262_143_328_850);
    write_domain(sys, "intel-rapl:0:0", "core", 5_250_000, 262_143_328_850);
    write_domain(sys, "intel-rapl:1", "package-1", 4_500_000, 262_143_328_850);
    std::thread::sleep(std::time::Duration::from_millis(30));
    let used = before.until(&Power::read(sys), &[0, 1, 2, 3, 99]);
    assert!(used.seconds >= 0.03 && used.seconds <= begin.elapsed().as_secs_f64());
    // CPUs 0 and 1 remain.
    let share = |time: f64| time / (used.seconds * 2e6);
    let found: Vec<_> =
        used.idle.iter().map(|state| (state.name.as_str(), state.entries)).collect();
    assert_eq!(found, [("POLL", 4), ("C1E", 0), ("C10", 1)]);
    for (state, time) in used.idle.iter().zip([200.0, 0.0, 1_000.0]) {
        assert!((state.share - share(time)).abs() < 1e-12, "{state:?}");
    }
    assert_eq!(used.mhz, Some(2500.0));
    let joules: Vec<_> = used.energy.unwrap().into_iter().map(|e| (e.domain, e.joules)).collect();
    let wanted = [("package-0", 1.0), ("package-0/core", 0.25), ("package-1", 3.5)];
    assert_eq!(joules, wanted.map(|(domain, joules)| (domain.to_owned(), joules)));
}

#[test]
fn a_machine_with_nothing() {
    let root = tempfile::tempdir().unwrap();
    let used = Power::read(root.path()).until(&Power::read(root.path()), &[0]);
    assert!(used.idle.is_empty());
    assert_eq!((used.mhz, used.energy), (None, Err(NoEnergy::Missing)));
}

#[test]
fn counters_that_only_root_may_read() {
    // Run again as another user.
    if let Some(sys) = testing::given() {
        let used = Power::read(&sys).until(&Power::read(&sys), &[0]);
        assert_eq!(used.energy, Err(NoEnergy::NotPermitted));
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        return testing::skip("needs root, to become another user");
    }
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    write_domain(root.path(), "intel-rapl:0", "package-0", 1, 2);
    let permit = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    permit(root.path(), 0o755);
    permit(&root.path().join("class/powercap/intel-rapl:0/energy_uj"), 0o400);
    let before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    match testing::again(&before, root.path()).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => testing::skip(format!("setpriv cannot be run: {error}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn energy_wraps_and_shares_stay_shares(
        highest in 1_000_u64..1 << 40, at in 0.0..1.0_f64, part in 0.0..1.0_f64,
        begin in 0_u64..1 << 40, time in 0_u64..1 << 40,
    ) {
        let root = tempfile::tempdir().unwrap();
        let first = (highest as f64 * at) as u64;
        let spent = (highest as f64 * part) as u64;
        write_domain(root.path(), "intel-rapl:0", "package-0", first, highest);
        write_state(root.path(), 0, 0, "C1", begin, 0);
        let before = Power::read(root.path());
        let now = if first + spent >= highest { first + spent - highest } else { first + spent };
        write_domain(root.path(), "intel-rapl:0", "package-0", now, highest);
        write_state(root.path(), 0, 0, "C1", begin + time, 1);
        let used = before.until(&Power::read(root.path()), &[0]);
        let joules = used.energy.unwrap()[0].joules;
        prop_assert!((joules - spent as f64 / 1e6).abs() < 1e-9, "{} {}", joules, spent);
        prop_assert!((0.0..=1.0).contains(&used.idle[0].share));
        prop_assert_eq!(used.idle[0].entries, 1);
    }

    #[test]
    fn anything_can_stand_in_the_files(text in "\\PC{0,20}") {
        let root = tempfile::tempdir().unwrap();
        for file in ["name", "time", "usage"] {
            let state = root.path().join("devices/system/cpu/cpu0/cpuidle/state0");
            write(state.join(file), &text);
        }
        for file in ["name", "energy_uj", "max_energy_range_uj"] {
            write(root.path().join("class/powercap/intel-rapl:0").join(file), &text);
        }
        let used = Power::read(root.path()).until(&Power::read(root.path()), &[0]);
        prop_assert!(used.idle.len() <= 1);
    }
}
