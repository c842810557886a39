//! `--version`, and with `--verbose` all that a report of a fault should say of a build and its machine.

use std::path::Path;

use lepo_base::search_path::own_program;
use lepo_base::sys;
use lepo_tool::Detected;

use super::end::end;
use crate::term::Out;

/// Prints the version; gives the exit code.
pub(super) fn print_version(verbose: bool) -> u8 {
    let mut out = Out::stdout();
    out.line(concat!("lepo ", env!("CARGO_PKG_VERSION")));
    if verbose {
        out.line(&format!("target    {}", sys::target()));
        out.line(&format!("programs  {}", programs()));
        out.line(&format!("sandbox   {}", sandbox()));
    }
    end(out)
}

/// The programs that belong to lepo, and which of them are not installed.
fn programs() -> String {
    let known = ["lepo-embedded", "lepo-import-db"];
    let told = known.map(|name| match own_program(name) {
        Some(_) => name.to_string(),
        None => format!("{name} (not installed)"),
    });
    told.join(", ")
}

/// The sandbox of this machine: tried, as before a command.
fn sandbox() -> String {
    Detected::now(Path::new(".")).about()
}
