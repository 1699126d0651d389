//! The cost of sampling everything at 1 Hz, with a mostly idle process tree of a given size.
//!
//! `cargo run --release -p steelyard-probe --example sampling_cost -- [PROCESSES] [SECONDS]`

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use probe::{Group, Sampler, Targets, block_device_of};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let processes: u32 = arguments.next().as_deref().unwrap_or("30").parse()?;
    let seconds: u64 = arguments.next().as_deref().unwrap_or("5").parse()?;
    // The members read until their input, ours to close, ends.
    let script = format!(
        "exec 3<&0; n=0; while [ $n -lt {processes} ]; do n=$((n+1)); cat <&3 & done; wait"
    );
    let mut server = Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).spawn()?;
    std::thread::sleep(Duration::from_millis(500));
    let targets = Targets {
        device: block_device_of(&std::env::current_dir()?),
        dbms: Some(Group::Tree(server.id())),
        driver: true,
    };
    let sampler = Sampler::start(targets, Instant::now(), Duration::from_secs(1));
    std::thread::sleep(Duration::from_secs(seconds));
    let recording = sampler.stop();
    drop(server.stdin.take());
    server.wait()?;
    let totals = recording.totals;
    println!(
        "{} series; {processes} processes: {} µs of CPU in {:.2} s, {:.3}% of one core (budget 0.5%)",
        recording.series.len(),
        totals.sampler_cpu_us,
        totals.seconds,
        totals.sampler_cpu_us as f64 / totals.seconds / 1e4,
    );
    for note in recording.notes {
        println!("note: {note}");
    }
    Ok(())
}
