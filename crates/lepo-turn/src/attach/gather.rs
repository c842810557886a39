//! Files named for a question, and the text files of folders. Skips files that git ignores, hidden files,
//! files that are not text, and files beyond the limits.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::{DirEntry, WalkBuilder};

use super::folder_summary::{FolderSummary, SkipReason, SkippedGroup};
use super::{FileContent, NewFile, same_name, web_page};
use crate::{ContextFile, NOT_FETCHED, Notice};
use lepo_base::error::{Error, Result};
use lepo_net::fetch::is_url;

/// Maximum number of files from folders per question.
const FILES: usize = 200;

/// Maximum bytes of text from folders per question.
const BYTES: u64 = 1 << 20;

/// Approximate bytes of text per token.
const BYTES_OF_TOKEN: u64 = 4;

/// Number of skipped entries to name for each reason.
const NAMED: usize = 3;

/// Folders of data that programs write, not the user; not counted as hidden.
const KEPT_BY_PROGRAMS: &[&str] = &[".git", ".lepo", ".hg", ".jj"];

/// Files added so far for a question.
#[derive(Default)]
pub struct FileGatherer {
    files: usize,
    bytes: u64,
    /// Bytes of the text files that the user named directly.
    named_bytes: u64,
    notes: Vec<Notice>,
    /// Whether pages are not fetched.
    is_offline: bool,
}

/// Skipped entries of a folder.
#[derive(Default)]
struct FolderSkips {
    links: Vec<String>,
    not_files: Vec<String>,
    not_text: Vec<String>,
    too_large: Vec<String>,
    too_many: Vec<String>,
    unreadable: Vec<String>,
    hidden: usize,
    ignored: usize,
}

/// Entries that a walk visited.
#[derive(Default)]
struct VisitedEntries {
    folders: Vec<PathBuf>,
    entries: HashSet<PathBuf>,
}

impl VisitedEntries {
    fn see(&mut self, entry: &DirEntry) {
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            self.folders.push(entry.path().to_path_buf());
        }
        self.entries.insert(entry.path().to_path_buf());
    }

    /// Counts the entries of the visited folders that are not hidden but that git ignores.
    fn ignored(&self) -> usize {
        let entries =
            self.folders.iter().flat_map(|folder| folder.read_dir().into_iter().flatten().flatten());
        let visible = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        visible.filter(|entry| !self.entries.contains(&entry.path())).count()
    }
}

impl FileGatherer {
    /// Creates a gathering that does not fetch pages, but inserts a placeholder.
    pub fn offline() -> FileGatherer {
        FileGatherer { is_offline: true, ..FileGatherer::default() }
    }

    /// Returns the file at this path; or the files of the folder, ordered by path; or the page at this URL.
    ///
    /// If a folder exceeds the limits, its largest files are skipped: cutting off its end would drop whole
    /// subfolders.
    pub fn add_path(&mut self, path: &Path) -> Result<Vec<ContextFile>> {
        if let Some(address) = path.to_str().filter(|path| is_url(path)) {
            let content = match self.is_offline {
                true => FileContent::Other(NOT_FETCHED.into()),
                false => web_page(address)?,
            };
            return Ok(vec![ContextFile { path: address.to_string(), content }]);
        }
        let path = &same_name(path);
        if !path.is_dir() {
            let content = NewFile::open_path(path)?;
            if let FileContent::Other(bytes) = &content {
                self.named_bytes += bytes.len() as u64;
            }
            return Ok(vec![ContextFile { path: path.display().to_string(), content }]);
        }
        let hidden = Arc::new(AtomicUsize::new(0));
        let counted = hidden.clone();
        let mut walk = WalkBuilder::new(path);
        walk.hidden(false).ignore(false).follow_links(false).sort_by_file_path(Path::cmp);
        walk.filter_entry(move |entry| {
            let name = entry.file_name().to_string_lossy();
            let is_hidden = entry.depth() > 0 && name.starts_with('.');
            if is_hidden && !KEPT_BY_PROGRAMS.contains(&&*name) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            !is_hidden
        });
        let (mut paths, mut left_out, mut visited) =
            (Vec::new(), FolderSkips::default(), VisitedEntries::default());
        for entry in walk.build() {
            match entry {
                Ok(entry) => {
                    visited.see(&entry);
                    match entry.file_type() {
                        Some(kind) if kind.is_file() => paths.push(entry.into_path()),
                        Some(kind) if kind.is_symlink() => left_out.links.push(display_path(entry.path())),
                        Some(kind) if !kind.is_dir() => left_out.not_files.push(display_path(entry.path())),
                        _ => {}
                    }
                }
                Err(error) => left_out.unreadable.push(error.to_string()),
            }
        }
        left_out.hidden = hidden.load(Ordering::Relaxed);
        left_out.ignored = visited.ignored();
        let size = |path: &PathBuf| path.metadata().map_or(0, |meta| meta.len());
        let mut sized: Vec<(u64, usize, PathBuf)> =
            paths.into_iter().enumerate().map(|(index, path)| (size(&path), index, path)).collect();
        sized.sort();
        let mut indexed = Vec::new();
        for (size, index, path) in sized {
            indexed.extend(self.one(&path, size, &mut left_out).map(|file| (index, file)));
        }
        indexed.sort_by_key(|(index, _)| *index);
        let files: Vec<ContextFile> = indexed.into_iter().map(|(_, file)| file).collect();
        if files.is_empty() {
            return Err(Error::usage(format!("no text to send in {}", path.display()))
                .hint("hidden files and those ignored by git are skipped; name such a file itself"));
        }
        let bytes = files.iter().map(|file: &ContextFile| match &file.content {
            FileContent::Other(bytes) => bytes.len() as u64,
            FileContent::Media(_) => 0,
        });
        let tokens = bytes.sum::<u64>().div_ceil(BYTES_OF_TOKEN);
        self.notes.push(Notice::Gathered(FolderSummary {
            folder: path.display().to_string(),
            files: files.len(),
            tokens,
            skipped: left_out.into_groups(),
        }));
        Ok(files)
    }

    /// Returns the approximate tokens of the text files of folders.
    pub fn tokens(&self) -> u64 {
        self.bytes.div_ceil(BYTES_OF_TOKEN)
    }

    /// Returns the approximate tokens of all text files, of folders and named directly.
    pub fn all_tokens(&self) -> u64 {
        (self.bytes + self.named_bytes).div_ceil(BYTES_OF_TOKEN)
    }

    /// Returns the notices about added folders and skipped files.
    pub fn notes(&self) -> &[Notice] {
        &self.notes
    }

    /// Reads a file of a folder, if it fits.
    fn one(&mut self, path: &Path, size: u64, left_out: &mut FolderSkips) -> Option<ContextFile> {
        let shown = display_path(path);
        if self.files == FILES && size <= BYTES - self.bytes {
            left_out.too_many.push(shown);
            return None;
        }
        let content = match read_within(path, BYTES - self.bytes) {
            Ok(Some(content)) => content,
            Ok(None) => {
                left_out.too_large.push(shown);
                return None;
            }
            Err(_) => {
                left_out.unreadable.push(shown);
                return None;
            }
        };
        if self.files == FILES {
            left_out.too_many.push(shown);
            return None;
        }
        if let FileContent::Other(bytes) = &content {
            if bytes.contains(&0) || std::str::from_utf8(bytes).is_err() {
                left_out.not_text.push(shown);
                return None;
            }
            self.bytes += bytes.len() as u64;
        }
        self.files += 1;
        Some(ContextFile { path: shown, content })
    }
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}

/// Returns a file to attach, or the bytes of another file; `None` if the bytes exceed `room`.
fn read_within(path: &Path, room: u64) -> Result<Option<FileContent>> {
    let failed = |error| Error::usage(format!("cannot read {}", path.display())).because(error);
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(room + 1).read_to_end(&mut bytes).map_err(failed)?;
    match NewFile::of_bytes(&path.display().to_string(), bytes)? {
        FileContent::Media(_) => NewFile::open_path(path).map(Some),
        FileContent::Other(bytes) if bytes.len() as u64 > room => Ok(None),
        other => Ok(Some(other)),
    }
}

impl FolderSkips {
    /// Returns the reasons, each with its first entries.
    fn into_groups(mut self) -> Vec<SkippedGroup> {
        // The entries were visited by ascending size.
        self.not_text.sort();
        self.unreadable.sort();
        self.too_large.reverse();
        self.too_many.reverse();
        let named = [
            (self.links, SkipReason::Link),
            (self.not_files, SkipReason::NotFile),
            (self.not_text, SkipReason::NotText),
            (self.too_large, SkipReason::ManyBytes(BYTES)),
            (self.too_many, SkipReason::ManyFiles(FILES)),
            (self.unreadable, SkipReason::Unreadable),
        ];
        let named = named.into_iter().map(|(mut named, why)| {
            let count = named.len();
            named.truncate(NAMED);
            SkippedGroup { count, why, named }
        });
        let counted = [(self.hidden, SkipReason::Hidden), (self.ignored, SkipReason::Ignored)];
        let counted = counted.into_iter().map(|(count, why)| SkippedGroup { count, why, named: Vec::new() });
        named.chain(counted).filter(|skipped| skipped.count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, files: &[(&str, &[u8])]) {
        for (name, bytes) in files {
            let path = dir.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }

    fn names(files: &[ContextFile], dir: &Path) -> Vec<String> {
        let short = |one: &ContextFile| one.path.replace(&format!("{}/", dir.display()), "");
        files.iter().map(short).collect()
    }

    fn summary(gathering: &FileGatherer) -> FolderSummary {
        let [Notice::Gathered(gathered), ..] = gathering.notes() else { panic!() };
        gathered.clone()
    }

    #[test]
    fn a_folder_is_its_text_files() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let gif = b"GIF89a\x01\0\x01\0\0\0\0\0\0\0";
        write(
            dir,
            &[
                (".git/HEAD", b"ref"),
                (".gitignore", b"target\n*.log\n"),
                (".env", b"KEY=1"),
                ("b/x.rs", "각".as_bytes()),
                ("a.txt", b"a"),
                ("bin", b"\0\x01"),
                ("latin", b"caf\xe9"),
                ("pic.gif", gif),
                ("target/out", b"made"),
                ("x.log", b"log"),
            ],
        );
        std::os::unix::fs::symlink("/etc/passwd", dir.join("link")).unwrap();
        let mut gathering = FileGatherer::default();
        gathering.add_path(&dir.join("b")).unwrap();
        let folder = dir.join("b").display().to_string();
        assert_eq!(summary(&gathering), FolderSummary { folder, files: 1, tokens: 1, skipped: Vec::new() });
        let mut gathering = FileGatherer::default();
        let files = gathering.add_path(dir).unwrap();
        assert_eq!(names(&files, dir), ["a.txt", "b/x.rs", "pic.gif"]);
        assert!(matches!(files[2].content, FileContent::Media(_)));
        let skipped = |count, why, named: &[&str]| {
            let named = named.iter().map(|name| dir.join(name).display().to_string()).collect();
            SkippedGroup { count, why, named }
        };
        let gathered = summary(&gathering);
        assert_eq!((gathered.files, gathered.tokens), (3, 1));
        assert_eq!(
            gathered.skipped,
            [
                skipped(1, SkipReason::Link, &["link"]),
                skipped(2, SkipReason::NotText, &["bin", "latin"]),
                skipped(2, SkipReason::Hidden, &[]),
                skipped(2, SkipReason::Ignored, &[]),
            ]
        );
        let one = gathering.add_path(&dir.join("x.log")).unwrap();
        assert_eq!(names(&one, dir), ["x.log"], "what is named itself goes along");
        let made = gathering.add_path(&dir.join("target")).unwrap();
        assert_eq!(names(&made, dir), ["target/out"]);
        write(dir, &[("none/bin", b"\0")]);
        assert_eq!(gathering.add_path(&dir.join("none")).unwrap_err().kind.exit_code(), 2);
    }

    #[test]
    fn the_largest_files_are_left_out_wherever_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let large = vec![b'x'; 600 << 10];
        write(dir, &[("a/big", &large), ("a/small", b"1"), ("b/big", &large), ("z/small", b"2")]);
        let mut gathering = FileGatherer::default();
        assert_eq!(names(&gathering.add_path(dir).unwrap(), dir), ["a/big", "a/small", "z/small"]);
        let skipped = summary(&gathering).skipped;
        assert_eq!((skipped.len(), skipped[0].count), (1, 1));
        assert!(skipped[0].named[0].ends_with("b/big"), "{skipped:?}");
        gathering.add_path(&dir.join("b/big")).unwrap();
        assert_eq!(gathering.tokens(), (600 * 256) + 1);
        assert_eq!(gathering.all_tokens(), (2 * 600 * 256) + 1);
    }

    #[test]
    fn what_is_beyond_the_limits_is_told() {
        let dir = tempfile::tempdir().unwrap();
        for i in 0..FILES + 2 {
            std::fs::write(dir.path().join(format!("{i:03}")), "x").unwrap();
        }
        std::fs::write(dir.path().join("000"), vec![b'x'; 2 << 20]).unwrap();
        let mut gathering = FileGatherer::default();
        assert_eq!(gathering.add_path(dir.path()).unwrap().len(), FILES);
        let skipped = summary(&gathering).skipped;
        let reasons: Vec<_> = skipped.iter().map(|one| (one.count, one.why)).collect();
        let (bytes, files) = (SkipReason::ManyBytes(1 << 20), SkipReason::ManyFiles(200));
        assert_eq!(reasons, [(1, bytes), (1, files)], "there is no repository");
    }
}
