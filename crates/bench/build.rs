//! Compiles the bare loop, a C program that uses only libc.

fn main() {
    println!("cargo::rerun-if-changed=bare/point_select.c");
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let program = format!("{out}/point_select");
    let compiled = cc::Build::new()
        .opt_level(2)
        .get_compiler()
        .to_command()
        .args(["-Wall", "-Wextra", "-o", &program, "bare/point_select.c"])
        .status();
    match compiled {
        Ok(status) if status.success() => println!("cargo::rustc-env=BARE_LOOP={program}"),
        other => println!("cargo::error=cannot compile the bare loop: {other:?}"),
    }
}
