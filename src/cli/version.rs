//! `--version`, and with `--verbose` all that a report of a fault should say of a build and its machine.

use std::path::Path;

use crate::sys;
use crate::term::Out;
use crate::tool::Detected;

/// Prints the version; gives the exit code.
pub(super) fn print_version(verbose: bool) -> u8 {
    let mut out = Out::stdout();
    out.line(concat!("lepo ", env!("CARGO_PKG_VERSION")));
    if verbose {
        out.line(&format!("target    {}", sys::target()));
        out.line(&format!("features  {}", features()));
        out.line(&format!("sandbox   {}", sandbox()));
    }
    super::end(out)
}

/// The features of this build, as cargo names them.
fn features() -> String {
    let all = [("embedded", cfg!(feature = "embedded")), ("import-db", cfg!(feature = "import-db"))];
    let chosen: Vec<&str> = all.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name).collect();
    if chosen.is_empty() { "none".to_string() } else { chosen.join(", ") }
}

/// The sandbox of this machine: tried, as before a command.
fn sandbox() -> String {
    Detected::now(Path::new(".")).about()
}
