//! Compiles the bare loops, C programs that use only libc.

fn main() {
    println!("cargo::rerun-if-changed=bare");
    for (name, variable) in [("point_select", "BARE_LOOP"), ("insert", "BARE_INSERT")] {
        let out = std::env::var("OUT_DIR").unwrap_or_default();
        let program = format!("{out}/{name}");
        let compiled = cc::Build::new()
            .opt_level(2)
            .get_compiler()
            .to_command()
            .args(["-Wall", "-Wextra", "-o", &program, &format!("bare/{name}.c")])
            .status();
        match compiled {
            Ok(status) if status.success() => println!("cargo::rustc-env={variable}={program}"),
            other => println!("cargo::error=cannot compile the bare loop {name}: {other:?}"),
        }
    }
}
