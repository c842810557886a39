//! Prints the version; with `--verbose` also the facts of the build and the machine that a bug report needs.

use std::path::Path;

use lepo_base::search_path::own_program;
use lepo_base::sys;
use lepo_tool::SandboxDetector;

use super::finish::end;
use crate::term::Out;

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

/// Lists lepo's companion programs, and which are not installed.
fn programs() -> String {
    let known = ["lepo-embedded", "lepo-import-db"];
    let labels = known.map(|name| match own_program(name) {
        Some(_) => name.to_string(),
        None => format!("{name} (not installed)"),
    });
    labels.join(", ")
}

/// Describes the sandbox of this machine, by trying it as before a command.
fn sandbox() -> String {
    SandboxDetector::now(Path::new(".")).about()
}
