//! Prints the facts recorded about this machine:
//! `cargo run -p steelyard-probe --example facts -- [DATA_DIR]`

fn main() {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    for fact in probe::host_facts(std::path::Path::new(&directory)) {
        println!("{:8} {:28} {}", fact.group, fact.name, fact.value);
    }
}
