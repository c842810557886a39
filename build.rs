//! How the released program is linked on Linux with glibc, where it is built for the machine that builds it and by the
//! compiler's own linker: the unwinder is linked in, so that no shared library is loaded for it, and what the loader
//! relocates is listed in bits, not in 24 bytes each. Both make every start shorter.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let value = |name: &str| std::env::var(name).unwrap_or_default();
    let chosen = value("CARGO_ENCODED_RUSTFLAGS");
    let own_linker =
        value("RUSTC_LINKER").is_empty() && !chosen.contains("linker") && !chosen.contains("fuse-ld");
    let is_native = value("HOST") == value("TARGET") && value("CARGO_CFG_TARGET_ENV") == "gnu";
    if value("PROFILE") != "release" || !is_native || !own_linker {
        return;
    }
    let archive = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let archive = archive.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let archive = archive.unwrap_or_default();
    // A compiler without the archive says its name alone.
    if let Some(folder) = Path::new(&archive).parent().filter(|folder| folder.is_absolute()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
    if knows_packed_relocations() {
        println!("cargo:rustc-link-arg-bin=lepo=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether the C library of this machine is 2.36 or newer: an older one does not start a program with packed
/// relocations.
fn knows_packed_relocations() -> bool {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let mut parts = said.trim().trim_start_matches("glibc ").split('.').map(|part| part.parse::<u32>().ok());
    let version = (parts.next().flatten(), parts.next().flatten());
    version >= (Some(2), Some(36))
}
