//! How long an evaluation takes. Run it with
//! `cargo test --release -p steelyard-script -- --ignored --nocapture speed`.

use std::hint::black_box;
use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};
use script::{Action, Symbols};

const TIMES: u32 = 5_000_000;

#[test]
#[ignore = "prints a measurement"]
fn speed() {
    for text in [
        "random(1, 100000 * :scale)",
        "random(1, 100000)",
        ":scale",
        "random_gaussian(1, 100000 * :scale, 2.5)",
        "random_exponential(1, 100000 * :scale, 2.5)",
        "random_zipfian(1, 100000 * :scale, 1.07)",
        "permute(random(1, 100000 * :scale), 100000 * :scale)",
        "1 + hash(random_zipfian(1, 100000, 1.2)) % 100000",
        "CASE WHEN :scale > 5 AND :client_id IS NOT NULL THEN :scale / 2.0 ELSE NULL END",
    ] {
        let mut symbols = Symbols::new();
        let script = format!("\\set x {text}");
        let script = script::parse("speed", &script, &mut symbols).unwrap();
        let Action::Set { expr, .. } = &script.commands[0].action else { panic!() };
        let variables = script::initial(&symbols, [10, 0, 1, 2], []);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut host = || rng.next_u64();
        let start = Instant::now();
        for _ in 0..TIMES {
            black_box(black_box(expr).evaluate(black_box(&variables), &mut host).unwrap());
        }
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / f64::from(TIMES);
        println!("{nanoseconds:7.1} ns  {text}");
    }
}
