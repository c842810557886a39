//! bubblewrap: namespaces of its own for each command. Its options go through a descriptor, so that
//! the command's environment is in no process list; its own environment is empty, for a command can read it.

use std::ffi::OsStr;
use std::fs::{DirEntry, File};
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::MemfdFlags;
use tokio::process::Command;

use super::filter;
use super::mount::{Mount, Views};
use crate::tool::Access;

/// bubblewrap, ready but for the command's own words.
pub struct Held {
    /// Its arguments are the command's.
    pub command: Command,
    // Inherited by number: open until it was started.
    _options: File,
    _filter: File,
}

impl Held {
    /// Prepares it, for a command that finds `views` and runs in `dir`.
    pub fn new(
        program: &Path,
        access: Access,
        views: &Views,
        dir: &Path,
        hidden_env: &[String],
    ) -> io::Result<Held> {
        let filter = inherited("filter", &filter::bytes(&filter::beside_namespaces()?))?;
        let mut options = Options::default();
        // Root would keep its capabilities, and could mount everything anew.
        for flag in ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"] {
            options.push(flag);
        }
        if access == Access::Net {
            options.push("--share-net");
        }
        options.push("--seccomp");
        options.push(filter.as_raw_fd().to_string());
        for (path, view) in views {
            match view {
                Mount::Hidden if path.is_file() => options.pair("--ro-bind", "/dev/null"),
                Mount::Hidden => options.push("--tmpfs"),
                Mount::Absent => {
                    options.pair("--tmpfs", path);
                    options.push("--remount-ro");
                }
                Mount::ReadOnly => options.pair("--ro-bind", path),
                Mount::ReadWrite => options.pair("--bind", path),
            }
            options.push(path);
            if path.parent().is_none() {
                ["--dev", "/dev", "--proc", "/proc"].iter().for_each(|option| options.push(option));
                for path in of_the_machine() {
                    options.pair("--ro-bind", &path);
                    options.push(&path);
                }
            }
        }
        options.pair("--chdir", dir);
        for (name, value) in
            std::env::vars_os().filter(|(name, _)| !hidden_env.iter().any(|h| name == h.as_str()))
        {
            options.pair("--setenv", name);
            options.push(value);
        }
        let options = inherited("options", &options.0)?;
        let mut command = Command::new(program);
        command.env_clear().arg("--args").arg(options.as_raw_fd().to_string()).arg("--");
        Ok(Held { command, _options: options, _filter: filter })
    }
}

/// What of `/proc` is about the machine and not about a process: settings of the kernel that root writes
/// by the files' owner alone, without any capability.
fn of_the_machine() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let settable = |entry: &DirEntry| {
        let of_a_process = entry.file_name().as_bytes().first().is_none_or(u8::is_ascii_digit);
        let meta = if of_a_process { None } else { entry.metadata().ok() };
        meta.is_some_and(|meta| meta.is_dir() || (meta.is_file() && meta.mode() & 0o222 != 0))
    };
    entries.flatten().filter(settable).map(|entry| entry.path()).collect()
}

/// Options as `--args` reads them: each ended by a zero.
#[derive(Default)]
struct Options(Vec<u8>);

impl Options {
    fn push(&mut self, option: impl AsRef<OsStr>) {
        self.0.extend(option.as_ref().as_bytes());
        self.0.push(0);
    }

    fn pair(&mut self, option: &str, value: impl AsRef<OsStr>) {
        self.push(option);
        self.push(value);
    }
}

/// A file in memory, at its beginning, that a child inherits.
fn inherited(name: &str, bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create(name, MemfdFlags::empty())?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}
