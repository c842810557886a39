//! Links the program of the tests at a fixed address. They start it some 17,000 times, and to relocate what nothing has
//! optimised took two thirds of a start. What is installed or packaged, without debug information, moves as ever.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let is_for_tests = is("PROFILE", "debug") && is("DEBUG", "true");
    if is_for_tests && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
