//! Landlock and seccomp, for `read` where bubblewrap does not work.
//!
//! Both hold a thread and what it starts from then on. So a thread is made for each command, held,
//! starts it and ends: nothing has to run between fork and exec, which would need unsafe code, and
//! lepo need not start itself a second time to become the command.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use tokio::process::{Child, Command};

use super::filter;
use super::mount::{Mount, Views, everything};

/// The oldest Landlock that holds every way of writing a file: it has `truncate`.
const NEEDED: ABI = ABI::V3;

/// Devices that are no more than a file to everybody.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Whether this kernel has it, tried on a thread that then ends.
pub fn works() -> bool {
    std::thread::scope(|scope| scope.spawn(|| hold(&everything()).is_ok()).join()).unwrap_or(false)
}

/// Starts a command that sees only what `views` shows, and changes nothing.
pub fn spawn(mut command: Command, views: &Views) -> io::Result<Child> {
    let runtime = tokio::runtime::Handle::current();
    let held = || {
        let _entered = runtime.enter();
        hold(views)?;
        command.spawn()
    };
    let spawned = std::thread::scope(|scope| scope.spawn(held).join());
    spawned.unwrap_or_else(|_| Err(io::Error::other("the thread that holds the command ended early")))
}

/// Holds this thread, for good.
fn hold(views: &Views) -> io::Result<()> {
    let failed = |error: landlock::RulesetError| io::Error::other(error);
    let confined = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).scope(Scope::Signal);
    let signals = confined.is_err();
    let read = AccessFs::from_read(NEEDED);
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
    let mut views = views.clone();
    views.insert("/dev".into(), Mount::Hidden);
    let mut open = Vec::new();
    opened(Path::new("/"), Mount::Hidden, &views, &mut open);
    let devices = DEVICES.iter().filter_map(|path| PathFd::new(path).ok());
    let devices = devices.map(|fd| Ok(PathBeneath::new(fd, AccessFs::ReadFile | AccessFs::WriteFile)));
    let rules = rules.add_rules(path_beneath_rules(open, read)).map_err(failed)?;
    rules.add_rules(devices).map_err(failed)?.restrict_self().map_err(failed)?;
    // Root's powers over the machine are none of a file.
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    seccompiler::apply_filter(&filter::beside_landlock(signals)?).map_err(io::Error::other)
}

/// Landlock only ever adds, down whole trees: where something is hidden below a path, its siblings
/// are opened one by one. A link is reached where it leads.
fn opened(path: &Path, above: Mount, views: &Views, open: &mut Vec<PathBuf>) {
    let view = views.get(path).copied().unwrap_or(above);
    let below = views.keys().any(|other| other != path && other.starts_with(path));
    if !below {
        if view != Mount::Hidden {
            open.push(path.to_path_buf());
        }
        return;
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            opened(&entry.path(), view, views, open);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beside_the_hidden_is_opened_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for dir in ["home/me/work", "home/me/.ssh", "home/you", "usr/bin", "tmp"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        std::os::unix::fs::symlink("home/me", root.join("link")).unwrap();
        let at = |path: &str| root.join(path);
        let views = Views::from([
            (root.to_path_buf(), Mount::ReadOnly),
            (at("home/me"), Mount::Hidden),
            (at("home/me/work"), Mount::ReadOnly),
            (at("tmp"), Mount::Hidden),
        ]);
        let mut open = Vec::new();
        opened(root, Mount::Hidden, &views, &mut open);
        open.sort();
        assert_eq!(open, [at("home/me/work"), at("home/you"), at("usr")]);
    }
}
