//! Links the program of the tests at a fixed address. They start it some 17,000 times, and to relocate what nothing has
//! optimised took two thirds of a start. What a profile without debug information builds moves as ever.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let is_for_tests = is("PROFILE", "debug") && is("DEBUG", "true");
    // A program with its own libc is another kind of file, which does not start so.
    let is_static = std::env::var("CARGO_CFG_TARGET_FEATURE")
        .is_ok_and(|found| found.split(',').any(|one| one == "crt-static"));
    if is_for_tests && !is_static && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
