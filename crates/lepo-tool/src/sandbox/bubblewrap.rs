//! bubblewrap: new namespaces for each command. Its options are passed through a descriptor, so that the command's
//! environment is not in any process list; bubblewrap's own environment is empty, because a command can read it.
//!
//! Binds are passed as open descriptors: a path could be replaced between lepo's check and the mount.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mount::{Mount, Mounts};
use crate::Access;
use lepo_base::sys::{memory_file, namespace_filter, open_without_links};
use lepo_process::{Environment, Program};

/// Most paths in a sandbox. Each needs a mount, and most need a descriptor.
const MOST_PATHS: usize = 700;

/// Prepares bubblewrap to run `words` in `dir`, with the mounts `mounts` and the variables `env`.
pub fn program(
    bwrap: &Path,
    access: Access,
    mounts: &Mounts,
    dir: &Path,
    env: &Environment,
    words: &[&str],
) -> io::Result<Program> {
    if mounts.len() > MOST_PATHS {
        return Err(io::Error::other(format!("more than {MOST_PATHS} paths here need a mount of their own")));
    }
    let mut program = Program::new(bwrap, Environment::new());
    let filter = program.lend(memory_file("filter", &namespace_filter()?)?);
    let mut options = BwrapArgs::default();
    // Root would retain its capabilities, and could remount everything.
    for flag in ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"] {
        options.push(flag);
    }
    if access == Access::Net {
        options.push("--share-net");
    }
    options.pair("--seccomp", filter.to_string());
    for (path, mount) in mounts {
        if path.parent().is_none() {
            options.pair("--ro-bind", path);
            options.push(path);
            ["--dev", "/dev", "--proc", "/proc"].iter().for_each(|option| options.push(option));
            for path in of_the_machine() {
                options.pair("--ro-bind", &path);
                options.push(&path);
            }
            continue;
        }
        match mount {
            Mount::Hidden | Mount::Secret if path.is_dir() => options.push("--tmpfs"),
            Mount::Hidden | Mount::Secret => options.pair("--ro-bind", "/dev/null"),
            Mount::Absent => {
                options.pair("--tmpfs", path);
                options.push("--remount-ro");
            }
            Mount::ReadOnly => {
                options.pair("--ro-bind-fd", program.lend(open_without_links(path)?).to_string());
            }
            Mount::ReadWrite => {
                options.pair("--bind-fd", program.lend(open_without_links(path)?).to_string());
            }
        }
        options.push(path);
    }
    options.pair("--chdir", dir);
    for (name, value) in env {
        options.pair("--setenv", name);
        options.push(value);
    }
    let options = program.lend(memory_file("options", &options.0)?).to_string();
    Ok(program.args(["--args", &options, "--"]).args(words))
}

/// Returns the entries of `/proc` that concern the machine and not a process: kernel settings that root may write as
/// their owner, without any capability.
fn of_the_machine() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let settable = |entry: &DirEntry| {
        let of_a_process = entry.file_name().as_bytes().first().is_none_or(u8::is_ascii_digit);
        let meta = if of_a_process { None } else { entry.metadata().ok() };
        meta.is_some_and(|meta| meta.is_dir() || (meta.is_file() && meta.mode() & 0o222 != 0))
    };
    entries.flatten().filter(settable).map(|entry| entry.path()).collect()
}

/// Options as `--args` reads them: each ends with a NUL byte.
#[derive(Default)]
struct BwrapArgs(Vec<u8>);

impl BwrapArgs {
    fn push(&mut self, option: impl AsRef<OsStr>) {
        self.0.extend(option.as_ref().as_bytes());
        self.0.push(0);
    }

    fn pair(&mut self, option: &str, value: impl AsRef<OsStr>) {
        self.push(option);
        self.push(value);
    }
}
