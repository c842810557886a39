//! Reads a source: opens files safely, and counts bytes read and parts skipped.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{FileType, Mode, OFlags};
use walkdir::{DirEntry, WalkDir};

use super::ConversationSink;
use super::conversation::{History, ImportNode, UNKNOWN_CONTENT};
use super::json::JsonValue;
use super::value_reader::{InvalidCounts, ValueReader};
use super::zst::ZstdReader;
use lepo_base::error::{Error, Result};

/// Maximum bytes of a line.
const LINE: usize = 256 << 20;
/// Maximum unpacked bytes of an archive.
const UNPACKED: u64 = 16 << 30;
/// Maximum ratio of unpacked to packed bytes, beyond the first GiB.
const RATIO: u64 = 200;

/// The reason for skipping data after the end of a document.
pub const BEHIND: &str = "data after the end of the document";

/// The reason for skipping a subagent's log named without its session's.
pub const ALONE: &str = "log of a subagent, which is imported with its session";

/// Counts of skipped parts, and remarks.
#[derive(Debug, Default)]
pub struct SkipCounts {
    /// Counts by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Skipped files by reason, each with its fault.
    pub files: BTreeMap<String, Vec<String>>,
    /// Remarks, each once.
    pub remarks: Vec<String>,
}

impl SkipCounts {
    /// Adds to the count of a reason.
    pub fn skip(&mut self, reason: &str, count: u64) {
        if count > 0 {
            *self.skipped.entry(reason.to_string()).or_default() += count;
        }
    }

    /// Counts the texts of a stream that have no value.
    pub fn skip_odd(&mut self, odd: InvalidCounts) {
        self.skip("not JSON", odd.bad);
        self.skip("torn", odd.torn);
        self.skip("too large", odd.large);
        self.skip(BEHIND, odd.trailing);
    }

    /// Counts a skipped file; `fault` is more specific than the reason.
    pub fn skip_file(&mut self, reason: &str, path: &Path, fault: Option<&str>) {
        let fault = fault.map(|fault| format!(" ({fault})")).unwrap_or_default();
        self.skip(reason, 1);
        self.files.entry(reason.to_string()).or_default().push(format!("{}{fault}", path.display()));
    }

    /// Records the file for each reason whose count grew since `before`, once per reason.
    pub fn name_file(&mut self, before: &BTreeMap<String, u64>, path: &Path) {
        let path = path.display().to_string();
        for (reason, count) in &self.skipped {
            let files = self.files.entry(reason.clone()).or_default();
            let is_new = *count > before.get(reason).copied().unwrap_or(0);
            if is_new && files.last().is_none_or(|last| !last.starts_with(&path)) {
                files.push(path.clone());
            }
        }
        self.files.retain(|_, files| !files.is_empty());
    }

    /// Moves the counts of a conversation's skipped parts into this tally.
    pub fn skip_parts(&mut self, conversation: &mut History) {
        for (reason, count) in std::mem::take(&mut conversation.skipped) {
            self.skip(&reason, count);
        }
    }

    /// Counts a source that broke off. Unpacking to more than the limit is an error.
    pub fn broken(&mut self, error: io::Error) -> Result<()> {
        match error.kind() {
            io::ErrorKind::QuotaExceeded => {
                return Err(Error::usage("an archive unpacks to more than the limit").because(error));
            }
            io::ErrorKind::UnexpectedEof => self.skip("torn", 1),
            _ => self.skip(&format!("unreadable: {error}"), 1),
        }
        Ok(())
    }

    /// Adds a remark about a source, once.
    pub fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

/// The state of reading sources.
#[derive(Default)]
pub struct SourceReader {
    /// Counts and remarks.
    pub tally: SkipCounts,
    /// All sources of this run.
    pub named: HashSet<PathBuf>,
    /// Bytes read so far, packed if the file is.
    pub bytes: Rc<Cell<u64>>,
    /// For each folder of logs, the subagents' logs of each session.
    pub agent_logs: HashMap<PathBuf, HashMap<String, Vec<PathBuf>>>,
    /// For each folder of logs, the titles of messages that other logs may have.
    pub titles: HashMap<PathBuf, HashMap<String, String>>,
    /// Applied to each node of a long log right after it was read, so that the texts are never all in memory.
    pub finish: Option<fn(&mut ImportNode)>,
    /// Called between values; an error ends the reading.
    pub stop: Option<Box<dyn Fn() -> Result<()>>>,
}

/// The values of a source.
pub type ValueStream = ValueReader<Box<dyn Read>>;

impl SourceReader {
    /// Opens the lines of a file, unpacked if it is compressed.
    pub fn lines(&mut self, path: &Path) -> Result<ValueStream> {
        Ok(ValueReader::lines(self.open(path)?).at_most(LINE))
    }

    /// Opens the values of a file, unpacked if it is compressed.
    pub fn values(&mut self, path: &Path) -> Result<ValueStream> {
        Ok(ValueReader::sequence(self.open(path)?))
    }

    /// Opens a file; a `.zst` is unpacked while it is read.
    pub fn open(&mut self, path: &Path) -> Result<Box<dyn Read>> {
        let (mut file, length) = regular(path).map_err(|error| cannot(path, error))?;
        skip_status(&mut file).map_err(|error| cannot(path, error))?;
        let counted = CountingReader { from: file, bytes: self.bytes.clone() };
        Ok(match path.extension().is_some_and(|end| end == "zst") {
            true => Box::new(LimitedReader::new(ZstdReader::new(counted), length)),
            false => Box::new(counted),
        })
    }

    /// Returns an error if the reading is to end.
    pub fn check(&self) -> Result<()> {
        self.stop.as_ref().map_or(Ok(()), |stop| stop())
    }

    /// Returns the next value. Malformed values, and the rest of a file after a read error, are counted and skipped.
    pub fn next<'v, R: Read>(&mut self, values: &'v mut ValueReader<R>) -> Result<Option<JsonValue<'v>>> {
        self.check()?;
        let mut odd = InvalidCounts::default();
        let found = values.advance(&mut odd);
        self.tally.skip_odd(odd);
        match found {
            Ok(found) => Ok(found.then(|| values.value())),
            Err(error) => self.tally.broken(error).map(|()| None),
        }
    }

    /// Reads a stream of conversations. Values for which `read` returns `None` are counted.
    pub fn conversations<R: Read>(
        &mut self,
        values: &mut ValueReader<R>,
        read: impl Fn(JsonValue<'_>) -> Option<History>,
        each: &mut ConversationSink<'_>,
    ) -> Result<()> {
        while let Some(value) = self.next(values)? {
            match read(value) {
                Some(conversation) => each(conversation)?,
                None => self.tally.skip(UNKNOWN_CONTENT, 1),
            }
        }
        Ok(())
    }
}

/// The status that `opencode export` prints before the document; a file of both outputs has it too.
const STATUS: &[u8] = b"Exporting session: ";

/// Longest status with a session's id, in bytes.
const LONGEST_STATUS: u64 = 256;

/// Moves to the document of an export, after the status that precedes it on the same line, if there is one.
pub fn skip_status(file: &mut File) -> io::Result<()> {
    let mut first = Vec::new();
    file.by_ref().take(LONGEST_STATUS).read_to_end(&mut first)?;
    let status = first.starts_with(STATUS).then(|| memchr::memchr(b'{', &first)).flatten();
    file.seek(SeekFrom::Start(status.unwrap_or(0) as u64)).map(drop)
}

pub fn cannot(path: &Path, error: io::Error) -> Error {
    Error::usage(format!("cannot read {}", path.display())).because(error)
}

/// Opens a regular file, without blocking on a pipe. Returns its length too.
pub fn regular(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((file, stat.st_size as u64)),
        _ => Err(io::Error::other("not a regular file")),
    }
}

/// Returns the regular files of a folder by name; empty if it does not exist. Links are not followed.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    files_below(folder, 0)
}

/// Returns the regular files of a folder and of those below it, down to `levels`, by path. Links are not followed.
pub fn files_below(folder: &Path, levels: usize) -> Vec<PathBuf> {
    let files = entries(folder, levels + 1).filter(|entry| entry.file_type().is_file());
    files.map(DirEntry::into_path).collect()
}

/// Returns the folders in a folder, by name.
pub fn folders_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder, 1).filter(|entry| entry.file_type().is_dir()).map(DirEntry::into_path).collect()
}

fn entries(folder: &Path, levels: usize) -> impl Iterator<Item = DirEntry> {
    WalkDir::new(folder).min_depth(1).max_depth(levels).sort_by_file_name().into_iter().flatten()
}

/// Reads the first value of a file; `None` if it is missing or malformed.
pub fn first_value<T>(path: &Path, read: impl FnOnce(JsonValue<'_>) -> T) -> Option<T> {
    let mut values = ValueReader::sequence(SourceReader::default().open(path).ok()?).at_most(64 << 20);
    let mut odd = InvalidCounts::default();
    let found = values.advance(&mut odd).unwrap_or(false) && odd.bad == 0;
    found.then(|| read(values.value()))
}

/// Reads the lines of a file until `tell` returns false.
pub fn first_values(path: &Path, mut read: impl FnMut(JsonValue<'_>) -> bool) {
    let Ok(file) = SourceReader::default().open(path) else { return };
    let mut values = ValueReader::lines(file).at_most(1 << 20);
    let mut odd = InvalidCounts::default();
    while values.advance(&mut odd).unwrap_or(false) && odd.bad == 0 && read(values.value()) {}
}

struct CountingReader<R> {
    from: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(to)?;
        self.bytes.set(self.bytes.get() + n as u64);
        Ok(n)
    }
}

/// Fails once an archive unpacks to more than its limit.
pub struct LimitedReader<R> {
    from: R,
    remaining: u64,
}

impl<R> LimitedReader<R> {
    /// Limits the unpacked size, by the packed size of the archive.
    pub fn new(from: R, packed: u64) -> LimitedReader<R> {
        LimitedReader { from, remaining: most(packed) }
    }

    pub fn with_limit(from: R, limit: u64) -> LimitedReader<R> {
        LimitedReader { from, remaining: limit }
    }

    /// Returns the bytes that may still be read.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }
}

/// Returns the limit on what an archive of `packed` bytes may unpack to.
pub fn most(packed: u64) -> u64 {
    packed.saturating_mul(RATIO).clamp(1 << 30, UNPACKED)
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(to)? as u64;
        self.remaining = self.remaining.checked_sub(n).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::QuotaExceeded,
                "16 GiB, and 200 times its size beyond the first GiB",
            )
        })?;
        Ok(n as usize)
    }
}
