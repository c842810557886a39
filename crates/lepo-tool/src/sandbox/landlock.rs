//! Landlock and seccomp, which sandbox a command with access `read` where bubblewrap does not work.
//!
//! Both restrict a process and every program that it executes. So lepo's program starts under another name, restricts
//! itself, and executes the command: no code has to run between fork and exec, which would need unsafe code.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::mount::{Mount, Mounts, everything};
use lepo_base::sys;
use lepo_process::{Environment, Program, own_program};

/// The `argv[0]` of the program that restricts itself and executes a command.
const SANDBOXED_NAME: &str = "lepo-held";

/// The exit code if the command could not be sandboxed, and so did not run.
const NOT_SANDBOXED: u8 = 125;

/// Devices that are as harmless as a file to everybody.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Whether this kernel supports both; tried on a thread that then ends, because the restriction is permanent.
pub fn is_available() -> bool {
    let tried = std::thread::Builder::new().spawn(|| restrict_self(&everything()).is_ok());
    tried.is_ok_and(|thread| thread.join().unwrap_or(false))
}

/// Prepares a command that can read only what `mounts` allows, and can change nothing.
pub fn program(mounts: &Mounts, dir: &Path, mut env: Environment, args: &[&str]) -> io::Result<Program> {
    // git uses `access`, which Landlock does not restrict, to ask whether it may read the user's settings, and fails if
    // it then may not.
    if !env.iter().any(|(name, _)| name == "GIT_CONFIG_GLOBAL") {
        env.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    }
    let mut program = Program::new(own_program()?, env).arg0(SANDBOXED_NAME).dir(dir);
    let mounts = program.lend(sys::memory_file("mounts", &encoded(mounts))?).to_string();
    Ok(program.args([&mounts]).args(args))
}

/// Executes the command, if these are the arguments of a sandboxed command. Returns an exit code only if that fails.
pub fn run_sandboxed(args: &[OsString]) -> Option<u8> {
    let [name, mounts, program, args @ ..] = args else { return None };
    if name != SANDBOXED_NAME {
        return None;
    }
    let execute = || {
        let descriptor = sys::descriptor_path(mounts);
        let mounts = decoded(&std::fs::read(descriptor)?);
        // Neither the descriptor of the mounts nor any other is for the command.
        close_fds::set_fds_cloexec(3, &[]);
        restrict_self(&mounts.ok_or_else(|| io::Error::other("malformed mounts"))?)?;
        Err::<(), _>(Command::new(program).args(args).exec())
    };
    if let Err(error) = execute() {
        let _ = io::Write::write_all(
            &mut io::stderr(),
            format!(
                "lepo: cannot sandbox the command: \
                {error}\n"
            )
            .as_bytes(),
        );
    }
    Some(NOT_SANDBOXED)
}

/// Encodes mounts for the process that restricts itself: for each, a letter, the path, and a NUL byte.
fn encoded(mounts: &Mounts) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, mount) in mounts {
        bytes.push(match mount {
            Mount::Hidden | Mount::Absent => b'h',
            Mount::Secret => b's',
            Mount::ReadOnly | Mount::ReadWrite => b'r',
        });
        bytes.extend(path.as_os_str().as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Decodes what `encoded` returns.
fn decoded(bytes: &[u8]) -> Option<Mounts> {
    let entry = |entry: &[u8]| {
        let (mount, path) = entry.split_first()?;
        let mount = match *mount {
            b'h' => Mount::Hidden,
            b's' => Mount::Secret,
            _ => Mount::ReadOnly,
        };
        Some((PathBuf::from(OsStr::from_bytes(path)), mount))
    };
    bytes.strip_suffix(&[0])?.split(|&byte| byte == 0).map(entry).collect()
}

/// Restricts this thread, and every program that it executes, permanently.
fn restrict_self(mounts: &Mounts) -> io::Result<()> {
    let mut mounts = mounts.clone();
    mounts.insert("/dev".into(), Mount::Hidden);
    let mut visible = VisiblePaths::default();
    collect_readable(Path::new("/"), Mount::Hidden, &mounts, &mut visible);
    sys::restrict_self(&visible.open, &visible.paths, DEVICES)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct VisiblePaths {
    /// Paths readable with everything below them.
    open: Vec<PathBuf>,
    /// Paths of which only the names of entries are readable.
    paths: Vec<PathBuf>,
}

/// Collects the readable paths. A Landlock rule only adds rights, for a whole tree: if anything below a path is hidden,
/// its siblings are opened one by one. A link needs no rule, because the rule of its target applies.
fn collect_readable(path: &Path, above: Mount, mounts: &Mounts, visible: &mut VisiblePaths) {
    let mount = mounts.get(path).copied().unwrap_or(above);
    let mut below = mounts.range(path.to_path_buf()..).skip_while(|(other, _)| *other == path);
    let below: Vec<Mount> =
        below.by_ref().take_while(|(other, _)| other.starts_with(path)).map(|(_, mount)| *mount).collect();
    let is_readable = !matches!(mount, Mount::Hidden | Mount::Secret);
    if below.is_empty() {
        if is_readable {
            visible.open.push(path.to_path_buf());
        }
        return;
    }
    // The names of secret paths are readable: nobody can work in a directory that cannot be listed.
    if is_readable && !below.contains(&Mount::Hidden) && path.parent().is_some() {
        visible.paths.push(path.to_path_buf());
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            collect_readable(&entry.path(), mount, mounts, visible);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_arrive_as_they_were_sent() {
        let mounts = Mounts::from([
            ("/".into(), Mount::ReadOnly),
            ("/a\nb".into(), Mount::Hidden),
            ("/c".into(), Mount::Secret),
        ]);
        assert_eq!(decoded(&encoded(&mounts)), Some(mounts));
        assert_eq!(decoded(b"r/cut"), None);
    }

    #[test]
    fn what_is_beside_the_hidden_is_opened_and_nothing_else() {
        let temp_dir = tempfile::tempdir().unwrap();
        let root = temp_dir.path();
        for dir in [
            "home/me/project/.lepo/_wire",
            "home/me/project/src",
            "home/me/.ssh",
            "home/you",
            "usr/bin",
            "tmp",
        ] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        std::os::unix::fs::symlink("home/me", root.join("link")).unwrap();
        let at = |path: &str| root.join(path);
        let mounts = Mounts::from([
            (root.to_path_buf(), Mount::ReadOnly),
            (at("home/me"), Mount::Hidden),
            (at("home/me/project"), Mount::ReadOnly),
            (at("home/me/project/.lepo/_wire"), Mount::Secret),
            (at("tmp"), Mount::Hidden),
        ]);
        let mut visible = VisiblePaths::default();
        collect_readable(root, Mount::Hidden, &mounts, &mut visible);
        visible.open.sort();
        assert_eq!(visible.open, [at("home/me/project/src"), at("home/you"), at("usr")]);
        assert_eq!(visible.paths, [at("home/me/project"), at("home/me/project/.lepo")]);
    }
}
