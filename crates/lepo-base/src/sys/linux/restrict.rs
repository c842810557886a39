//! Landlock and seccomp: a thread restricts itself and the program that it executes.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::filter;
use super::open_beneath::open_without_links;

/// The oldest Landlock that confines every way of writing a file: it has `truncate`.
const NEEDED: ABI = ABI::V3;

/// Restricts this thread, the program that it executes and their children for good: they can read and execute `open`
/// and all below, list `listed`, use `devices`, and change nothing.
pub fn restrict_self(open: &[PathBuf], listed: &[PathBuf], devices: &[&str]) -> io::Result<()> {
    let failed = |error: landlock::RulesetError| io::Error::other(error);
    let confined = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).scope(Scope::Signal);
    let signals = confined.is_err();
    let read = AccessFs::from_read(NEEDED);
    let file = AccessFs::ReadFile | AccessFs::Execute;
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))
        .map_err(failed)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))
        .map_err(failed)?
        .scope(Scope::from_all(ABI::V6))
        .map_err(failed)?
        .create()
        .map_err(failed)?;
    let rule = |path: &Path, read| open_without_links(path).ok().map(|fd| Ok(PathBeneath::new(fd, read)));
    let devices =
        devices.iter().filter_map(|path| rule(Path::new(path), AccessFs::ReadFile | AccessFs::WriteFile));
    // A path that cannot be opened, or has become a link, stays hidden.
    let open = open.iter().filter_map(|path| rule(path, if path.is_dir() { read } else { file }));
    let listed = listed.iter().filter_map(|path| rule(path, AccessFs::ReadDir.into()));
    let rules = rules.add_rules(open).map_err(failed)?.add_rules(listed).map_err(failed)?;
    rules.add_rules(devices).map_err(failed)?.restrict_self().map_err(failed)?;
    // Landlock does not confine root's capabilities over the machine.
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    seccompiler::apply_filter(&filter::for_landlock(signals)?).map_err(io::Error::other)
}
