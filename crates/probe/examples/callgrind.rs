//! What lies between two marks: `callgrind OUT` lists the dumps of a run, `callgrind DUMP MARK` takes the dump of the mark alone away and
//! prints the costliest functions, `callgrind DUMP MARK OTHER-DUMP OTHER-MARK` what moved between two such differences.

use std::path::Path;

use probe::callgrind::{Profile, dumps, moved};

const SHOWN: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = |dump: &String, mark: &String| -> Result<Profile, Box<dyn std::error::Error>> {
        Ok(Profile::read(Path::new(dump))?.minus(&Profile::read(Path::new(mark))?))
    };
    match &arguments[..] {
        [out] => {
            for dump in dumps(Path::new(out))? {
                let profile = Profile::read(&dump.path)?;
                let functions = profile.functions.len();
                println!(
                    "{} {:>3} {:>12} instructions, {functions:>5} functions, {}",
                    dump.pid, dump.part, profile.instructions, dump.trigger
                );
            }
        }
        [dump, mark] => {
            let rest = rest(dump, mark)?;
            let (short, unnamed) = (rest.shortfall, rest.without_symbol());
            println!("{} instructions, {short} short, {unnamed} without symbol", rest.instructions);
            let mut functions: Vec<_> = rest.functions.iter().collect();
            functions.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.own));
            println!("{:>12} {:>12} {:>9}", "own", "inclusive", "calls");
            for (name, cost) in functions.into_iter().take(SHOWN) {
                println!("{:>12} {:>12} {:>9} {name}", cost.own, cost.inclusive, cost.calls);
            }
        }
        [dump, mark, other_dump, other_mark] => {
            let (base, variant) = (rest(dump, mark)?, rest(other_dump, other_mark)?);
            println!("{} and {} instructions", base.instructions, variant.instructions);
            println!("{:>12} {:>12} {:>9}", "own", "inclusive", "calls");
            for moved in moved(&base, &variant).into_iter().take(SHOWN) {
                println!(
                    "{:>+12} {:>+12} {:>+9} {}",
                    moved.own_difference(),
                    moved.inclusive_difference(),
                    moved.calls_difference(),
                    moved.name
                );
            }
        }
        _ => return Err("expected OUT, DUMP MARK, or DUMP MARK OTHER-DUMP OTHER-MARK".into()),
    }
    Ok(())
}
