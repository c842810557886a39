//! Links the unwinder into the released program, where the C compiler has it as an archive: a shared library less to
//! load at every start. It is asked for the way back from a panic, and for nothing else.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let is_native = std::env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    if !is_native || !is("PROFILE", "release") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return;
    }
    let archive = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let archive = archive.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    // A compiler without it says the name alone.
    if let Some(folder) =
        archive.ok().as_deref().map(Path::new).filter(|path| path.is_absolute()).and_then(Path::parent)
    {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}
