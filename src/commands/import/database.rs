//! Runs the program that reads databases.

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::process::{ChildStderr, Stdio};
use std::thread;

use lepo_base::error::{Error, Result};
use lepo_base::search_path::{self, own_program};
use lepo_import::{History, SourceReader, read_stream};

/// The program that reads databases.
const PROGRAM: &str = "lepo-import-db";

/// Maximum bytes to read of its error output.
const MOST_COMPLAINT: u64 = 4096;

pub fn read_database(
    path: &Path,
    reading: &mut SourceReader,
    each: &mut dyn FnMut(&str, History) -> Result<()>,
) -> Result<()> {
    let program = own_program(PROGRAM).unwrap_or_else(|| PROGRAM.into());
    read_from(&program, path, reading, each)
}

fn read_from(
    program: &Path,
    path: &Path,
    reading: &mut SourceReader,
    each: &mut dyn FnMut(&str, History) -> Result<()>,
) -> Result<()> {
    let mut child = search_path::command(program)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            Error::usage(format!(
                "{} is a database, and the program {PROGRAM} is not \
                installed",
                path.display()
            ))
            .because(error)
            .hint("build it: cargo install --path crates/lepo-import-db")
        })?;
    // Both pipes are read concurrently: a program with much output on one of them would block.
    let err = child.stderr.take();
    let complaint = thread::spawn(move || err.map(beginning).unwrap_or_default());
    let read = match child.stdout.take() {
        Some(out) => read_stream(BufReader::with_capacity(1 << 18, out), reading, each),
        None => Ok(()),
    };
    let complaint = complaint.join().unwrap_or_default();
    let ended = child.wait();
    read?;
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(match complaint.lines().find_map(|line| line.strip_prefix("error: ")) {
            Some(why) => Error::usage(why),
            None => Error::usage(format!("{} could not be read as a database", path.display())),
        }),
        Err(error) => Err(Error::usage(format!("{PROGRAM} failed")).because(error)),
    }
}

/// Returns the first bytes of the error output, and drains the rest.
fn beginning(mut err: ChildStderr) -> String {
    let mut complaint = Vec::new();
    let _ = err.by_ref().take(MOST_COMPLAINT).read_to_end(&mut complaint);
    let _ = io::copy(&mut err, &mut io::sink());
    String::from_utf8_lossy(&complaint).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_that_complains_at_length_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let script = "#!/bin/sh\necho 'error: no such table' >&2\nhead -c 300000 /dev/zero >&2\nexit 2\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let read = read_from(&program, Path::new("x.db"), &mut SourceReader::default(), &mut |_, _| Ok(()));
        assert_eq!(read.unwrap_err().message, "no such table");
    }
}
