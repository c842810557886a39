//! Records the user's consent to the files of configured programs: their bytes, per repository. Files that exist when
//! a program is first seen count as agreed to; files that a sandboxed command changes afterwards do not.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use lepo_base::error::Result;
use lepo_base::hash::{StreamHasher, hash_of};
use lepo_base::hash_file::HashFile;
use lepo_base::work_folder::WorkFolder;
use lepo_tool::{NamedProgram, TouchedFiles};
use rustix::fs::OFlags;

use super::touched::{EntryForm, Touched, TouchedEntry};

/// Maximum bytes of a file to store a copy of, which is needed to show later changes.
const LONGEST_COPY: usize = 256 << 10;

/// Maximum number of such copies per program.
const MOST_COPIES: usize = 300;

/// Prefixes of the hashes, so that no hash counts as trust in another kind of file.
const SEEN: &[u8] = b"program";
const FILE: &[u8] = b"program file";

/// The record of the programs of a repository.
#[derive(Debug, Clone)]
pub struct ProgramTrust {
    record: HashFile,
    /// The folder with copies of agreed files.
    copies: PathBuf,
    /// The record of files changed by sandboxed commands.
    touched: TouchedFiles,
    folder: WorkFolder,
}

/// A file of a program without consent to its current bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Absolute path.
    pub path: PathBuf,
    /// Path below the root of the repository.
    pub name: PathBuf,
    /// The agreed bytes; `None` if there were none, or no copy is stored.
    pub old: Option<Vec<u8>>,
    /// The current bytes; `None` if they are too many to show.
    pub new: Option<Vec<u8>>,
    /// Whether no file at this path was ever agreed to.
    pub is_new: bool,
    /// Describes a file without readable bytes, such as a special file.
    pub about: Option<String>,
    hash: String,
}

impl ChangedFile {
    /// Returns the hash of its path and bytes in this repository.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }
}

/// The current state of a file.
struct FileState {
    path: PathBuf,
    name: PathBuf,
    bytes: Option<Vec<u8>>,
    about: Option<String>,
    hash: String,
}

impl ProgramTrust {
    /// Opens the record of the repository that contains `dir`; `None` if the folder does not exist.
    pub fn of_folder(state: &Path, dir: &Path) -> Option<ProgramTrust> {
        let folder = WorkFolder::read(dir).ok()?;
        let record = HashFile::at(state.join("trust"));
        Some(ProgramTrust {
            record,
            copies: state.join("program-files"),
            touched: TouchedFiles::in_state(state),
            folder,
        })
    }

    /// Returns the root of the repository.
    pub fn root(&self) -> &Path {
        &self.folder.root
    }

    /// Records the files of programs that were never seen here, before anything can change them, for every folder in
    /// which each may start.
    pub fn note_first_sight(&self, programs: &[NamedProgram]) -> Result<()> {
        let elsewhere = |program: &NamedProgram| NamedProgram { dir: "/".into(), ..program.clone() };
        let programs: Vec<NamedProgram> =
            programs.iter().flat_map(|program| [program.clone(), elsewhere(program)]).collect();
        let hashes: Vec<String> = programs.iter().map(|program| self.seen_hash(program)).collect();
        let recorded = self.record.contains_each(&hashes.iter().map(String::as_str).collect::<Vec<_>>())?;
        for ((program, hash), _) in programs.iter().zip(hashes).zip(recorded).filter(|(_, is_seen)| !is_seen)
        {
            self.append(Some(hash), &self.untouched_files(program)?)?;
        }
        Ok(())
    }

    /// Returns the files of a program that changed without consent. For a program that was never seen, these are
    /// the files that a sandboxed command changed; the others are recorded.
    pub fn changes(&self, program: &NamedProgram) -> Result<Vec<ChangedFile>> {
        Ok(self.changes_before_start(program)?.0)
    }

    /// Opens the record for a start that works for `dir`. The error says why files cannot be compared.
    pub fn of_start(state: &Path, dir: &Path) -> std::result::Result<ProgramTrust, String> {
        let elsewhere = || ProgramTrust::of_folder(state, Path::new("/"));
        let trust = ProgramTrust::of_folder(state, dir).or_else(elsewhere);
        trust.ok_or_else(|| format!("its files cannot be compared for {}", dir.display()))
    }

    /// Returns an error if a running program may load a file that a command changed: it must not be called any more.
    pub fn check_touched(&self, program: &NamedProgram) -> std::result::Result<(), String> {
        as_agreed(&self.touched_by_commands(program).map_err(|error| error.chain())?)
    }

    /// Returns the files that a command changed, that this program may run, and that have no consent.
    pub fn touched_by_commands(&self, program: &NamedProgram) -> Result<Vec<ChangedFile>> {
        self.touched_changes(&Touched::by_commands(&self.touched, program)?)
    }

    /// Records the user's agreement to the current files of a program, except files that a command changed.
    pub fn agree_to_others(&self, program: &NamedProgram) -> Result<()> {
        let touched = Touched::by_commands(&self.touched, program)?;
        let mut changed = self.other_changes(program, &touched)?;
        changed.retain(|file| !touched.contains(&file.path));
        self.record_consent(&changed)
    }

    /// Returns all files without consent, and the lock that prevents commands from starting.
    fn changes_before_start(&self, program: &NamedProgram) -> Result<(Vec<ChangedFile>, Option<OwnedFd>)> {
        let touched = Touched::by_commands(&self.touched, program)?;
        let mut changed = self.touched_changes(&touched)?;
        let mut others = self.other_changes(program, &touched)?;
        others.retain(|other| !changed.iter().any(|file| file.path == other.path));
        changed.extend(others);
        Ok((changed, touched.into_lock()))
    }

    fn touched_changes(&self, touched: &Touched) -> Result<Vec<ChangedFile>> {
        let files: Vec<FileState> =
            touched.entries().into_iter().filter_map(|entry| self.touched_state(entry)).collect();
        let known =
            self.record.contains_each(&files.iter().map(|file| file.hash.as_str()).collect::<Vec<_>>())?;
        let changed = files.into_iter().zip(known).filter(|(_, is_known)| !is_known);
        self.all_changed(changed.map(|(file, _)| file).collect())
    }

    fn touched_state(&self, TouchedEntry { path, form }: TouchedEntry) -> Option<FileState> {
        let (hash, about) = match form {
            EntryForm::Other(hash, about) => (hash, about),
            EntryForm::File => match self.read(path.clone()) {
                Ok(state) => return Some(state),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
                // The user cannot have agreed to a file that cannot be read.
                Err(error) => (String::new(), format!("({error})")),
            },
        };
        let name = path.strip_prefix(&self.folder.root).unwrap_or(&path).to_path_buf();
        Some(FileState { path, name, bytes: None, about: Some(about), hash })
    }

    /// Like `changes`, but only for the files that the program is known to load.
    fn other_changes(&self, program: &NamedProgram, touched: &Touched) -> Result<Vec<ChangedFile>> {
        let recorded = self.seen_hash(program);
        let files = self.files(program);
        let hashes: Vec<&str> = std::iter::once(&recorded)
            .chain(files.iter().map(|file| &file.hash))
            .map(String::as_str)
            .collect();
        let known = self.record.contains_each(&hashes)?;
        let is_seen = known.first() == Some(&true);
        let unknown = files.into_iter().zip(known.into_iter().skip(1)).filter(|(_, is_known)| !is_known);
        let (changed, first_seen): (Vec<_>, Vec<_>) =
            unknown.map(|(file, _)| file).partition(|file| is_seen || touched.contains(&file.path));
        if !is_seen {
            self.append(Some(recorded), &first_seen)?;
        }
        self.all_changed(changed)
    }

    fn all_changed(&self, files: Vec<FileState>) -> Result<Vec<ChangedFile>> {
        let paths = if files.is_empty() { Vec::new() } else { self.record.active_texts()? };
        Ok(files.into_iter().map(|file| self.changed(file, &paths)).collect())
    }

    /// Returns an error if the files of a program differ from those that the user agreed to. No command starts until
    /// the returned lock is closed.
    pub fn check(&self, program: &NamedProgram) -> std::result::Result<Option<OwnedFd>, String> {
        let (changed, lock) = self.changes_before_start(program).map_err(|error| error.chain())?;
        as_agreed(&changed).map(|()| lock)
    }

    /// Records the user's consent to these files as displayed; durable when this returns.
    pub fn record_consent(&self, changed: &[ChangedFile]) -> Result<()> {
        let files: Vec<FileState> = changed
            .iter()
            .cloned()
            .map(|ChangedFile { path, name, new, hash, about, .. }| FileState {
                path,
                name,
                bytes: new,
                about,
                hash,
            })
            .collect();
        self.append(None, &files)
    }

    fn append(&self, recorded: Option<String>, files: &[FileState]) -> Result<()> {
        let recorded = recorded.map(|hash| format!("{hash} {:?}", self.folder.root));
        // Some of them may have consent for another program.
        let known =
            self.record.contains_each(&files.iter().map(|file| file.hash.as_str()).collect::<Vec<_>>())?;
        let unknown = files.iter().zip(known).filter(|(_, is_known)| !is_known);
        let agreed = unknown.map(|(file, _)| format!("{} {:?}", file.hash, file.path));
        self.record.append(&recorded.into_iter().chain(agreed).collect::<Vec<_>>())?;
        for file in files.iter().take(MOST_COPIES) {
            // Without the copy, a later change cannot be shown, but is still asked about.
            let _ = self.store_copy(file);
        }
        Ok(())
    }

    fn store_copy(&self, file: &FileState) -> io::Result<()> {
        let path = self.copy_path(&file.name);
        let Some(bytes) = &file.bytes else {
            return std::fs::remove_file(path);
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.copies)?;
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(bytes)
    }

    fn copy_path(&self, name: &Path) -> PathBuf {
        self.copies.join(hash_of(&[FILE, self.folder.identity.as_bytes(), name.as_os_str().as_bytes()]))
    }

    /// `agreed` contains the paths of all files that were ever agreed to.
    fn changed(&self, file: FileState, agreed: &[String]) -> ChangedFile {
        let old = std::fs::read(self.copy_path(&file.name)).ok();
        let FileState { path, name, bytes, about, hash } = file;
        let is_new = old.is_none() && !agreed.contains(&format!("{path:?}"));
        ChangedFile { path, name, old, new: bytes, is_new, about, hash }
    }

    /// Identifies a program by its command line: a changed definition is seen for the first time.
    fn seen_hash(&self, program: &NamedProgram) -> String {
        let words = std::iter::once(&program.program).chain(&program.args).map(|word| word.as_bytes());
        let dir = program.dir.canonicalize().unwrap_or_else(|_| program.dir.clone());
        // All folders outside are equivalent, because an empty folder has another name at each start.
        let dir = dir.strip_prefix(&self.folder.root).ok().map(|dir| dir.as_os_str().as_bytes());
        let folder_key = [SEEN, self.folder.identity.as_bytes(), dir.unwrap_or(b"/")];
        hash_of(&folder_key.into_iter().chain(words).collect::<Vec<_>>())
    }

    /// Returns the current files of a program, without unreadable ones, which the program could not load either.
    fn files(&self, program: &NamedProgram) -> Vec<FileState> {
        let paths = program.files(&self.folder.root).compared;
        paths.into_iter().filter_map(|path| self.read(path).ok()).collect()
    }

    fn untouched_files(&self, program: &NamedProgram) -> Result<Vec<FileState>> {
        let touched = Touched::by_commands(&self.touched, program)?;
        let mut files = self.files(program);
        files.retain(|file| !touched.contains(&file.path));
        Ok(files)
    }

    fn read(&self, path: PathBuf) -> io::Result<FileState> {
        // Does not wait if the file is a fifo.
        let flags = OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a file"));
        }
        let (digest, bytes) = digest(file)?;
        let name = path.strip_prefix(&self.folder.root).unwrap_or(&path).to_path_buf();
        let parts = [FILE, self.folder.identity.as_bytes(), name.as_os_str().as_bytes(), digest.as_bytes()];
        Ok(FileState { hash: hash_of(&parts), path, name, bytes, about: None })
    }
}

/// Returns an error that names the changed files.
fn as_agreed(changed: &[ChangedFile]) -> std::result::Result<(), String> {
    let Some(first) = changed.first() else { return Ok(()) };
    let (name, more) = (first.name.display().to_string(), changed.len() - 1);
    Err(match (more, first.is_new) {
        (0, true) => format!("{name:?} is new since its files were agreed to"),
        (0, false) => format!("{name:?} changed since it was agreed to"),
        _ => format!("{name:?} and {more} more of its files changed since they were agreed to"),
    })
}

/// Returns the hash of a file, and its bytes if they are few.
fn digest(mut file: File) -> io::Result<(String, Option<Vec<u8>>)> {
    let (mut hasher, mut bytes, mut piece) = (StreamHasher::default(), Some(Vec::new()), vec![0; 64 << 10]);
    loop {
        let read = match file.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else {
            return Ok((hasher.finish(), bytes));
        };
        hasher.add(read);
        bytes = bytes.filter(|bytes| bytes.len() + read.len() <= LONGEST_COPY);
        if let Some(bytes) = &mut bytes {
            bytes.extend(read);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(dir: &Path) -> NamedProgram {
        NamedProgram::new("python3", &["tools/server.py".to_string()], dir)
    }

    fn names(changed: &[ChangedFile]) -> Vec<String> {
        changed.iter().map(|file| file.name.display().to_string()).collect()
    }

    #[test]
    fn what_is_first_seen_is_agreed_to_and_what_changes_is_not() {
        let (state, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dir = work.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
            std::fs::write(dir.join(name), text).unwrap();
        };
        write("tools/server.py", "one\n");
        let trust = ProgramTrust::of_folder(state.path(), &dir).unwrap();
        let changes = || trust.changes(&program(&dir)).unwrap();
        assert_eq!(changes(), []);
        write("tools/server.py", "two\n");
        let changed = changes();
        assert_eq!(names(&changed), ["tools/server.py"]);
        assert_eq!(changed[0].old.as_deref(), Some(&b"one\n"[..]));
        assert_eq!(changed[0].new.as_deref(), Some(&b"two\n"[..]));
        assert_eq!(changes(), changed, "to be asked is no agreement");
        // The yes is to what was shown, not to what is there by then.
        write("tools/server.py", "three\n");
        trust.record_consent(&changed).unwrap();
        assert_eq!(names(&changes()), ["tools/server.py"]);
        assert_eq!(changes()[0].old.as_deref(), Some(&b"two\n"[..]));
        for text in ["one\n", "two\n"] {
            write("tools/server.py", text);
            assert_eq!(changes(), [], "a version that was agreed to before: another branch");
        }
        // A module that Python would take in place of its own, and a package that was agreed to elsewhere.
        write("tools/json.py", "x");
        assert_eq!(names(&changes()), ["tools/json.py"]);
        std::fs::remove_file(dir.join("tools/json.py")).unwrap();
        write("tools/server.py", &"x".repeat(LONGEST_COPY + 1));
        let changed = changes();
        assert_eq!(changed[0].new, None);
        trust.record_consent(&changed).unwrap();
        assert_eq!(changes(), []);
    }

    #[test]
    fn a_file_that_comes_after_its_program_was_seen_is_new() {
        let (state, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dir = work.path().canonicalize().unwrap();
        let trust = ProgramTrust::of_folder(state.path(), &dir).unwrap();
        trust.note_first_sight(&[program(&dir)]).unwrap();
        std::fs::create_dir(dir.join("tools")).unwrap();
        std::fs::write(dir.join("tools/server.py"), "x").unwrap();
        trust.note_first_sight(&[program(&dir)]).unwrap();
        let changed = trust.changes(&program(&dir)).unwrap();
        assert_eq!((names(&changed), changed[0].is_new), (vec!["tools/server.py".to_string()], true));
        // Another definition is seen for the first time.
        let other = NamedProgram { args: vec!["-u".into(), "tools/server.py".into()], ..program(&dir) };
        assert_eq!(trust.changes(&other).unwrap(), []);
    }

    #[test]
    fn no_fifo_is_waited_for() {
        let (state, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dir = work.path().canonicalize().unwrap();
        let path = dir.join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let trust = ProgramTrust::of_folder(state.path(), &dir).unwrap();
        assert!(trust.read(path).is_err());
    }
}
