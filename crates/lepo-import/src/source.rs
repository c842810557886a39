//! Reading a source: files opened with care, their bytes counted, what cannot be read counted too.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{FileType, Mode, OFlags};
use walkdir::{DirEntry, WalkDir};

use super::Each;
use super::conversation::{Conversation, Node, UNKNOWN_CONTENT};
use super::json::Value;
use super::values::{Odd, Values};
use super::zst::Unpacked;
use lepo_base::error::{Error, Result};

/// Bytes of one line, at most.
const LINE: usize = 256 << 20;
/// Unpacked bytes of one archive, at most.
const UNPACKED: u64 = 16 << 30;
/// The most times that the content may be larger than the archive, beyond the first GiB.
const RATIO: u64 = 200;

/// The reason for what stands behind the end of a document.
pub const BEHIND: &str = "data after the end of the document";

/// The reason for a subagent's log that is named without its session's.
pub const ALONE: &str = "log of a subagent, which is imported with its session";

/// Counts of what was read and skipped.
#[derive(Debug, Default)]
pub struct Tally {
    /// The count of each reason.
    pub skipped: BTreeMap<String, u64>,
    /// The files that were skipped for a reason, each with what is wrong with it.
    pub files: BTreeMap<String, Vec<String>>,
    /// Remarks, each told once.
    pub remarks: Vec<String>,
}

impl Tally {
    /// Counts something that was stepped over.
    pub fn skip(&mut self, reason: &str, count: u64) {
        if count > 0 {
            *self.skipped.entry(reason.to_string()).or_default() += count;
        }
    }

    /// Counts the texts of a stream that have no value.
    pub fn skip_odd(&mut self, odd: Odd) {
        self.skip("not JSON", odd.bad);
        self.skip("torn", odd.torn);
        self.skip("too large", odd.large);
        self.skip(BEHIND, odd.behind);
    }

    /// Counts a file that was stepped over; `fault` says more than the reason.
    pub fn skip_file(&mut self, reason: &str, path: &Path, fault: Option<&str>) {
        let fault = fault.map(|fault| format!(" ({fault})")).unwrap_or_default();
        self.skip(reason, 1);
        self.files.entry(reason.to_string()).or_default().push(format!("{}{fault}", path.display()));
    }

    /// Counts all that a conversation could not take.
    pub fn skip_parts(&mut self, conversation: &mut Conversation) {
        for (reason, count) in std::mem::take(&mut conversation.skipped) {
            self.skip(&reason, count);
        }
    }

    /// A source that cannot be read on.
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

    /// Something that is told of the source.
    pub fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

/// The reading of sources.
#[derive(Default)]
pub struct Reading {
    /// The outcome.
    pub tally: Tally,
    /// The sources of the run.
    pub named: HashSet<PathBuf>,
    /// Bytes so far, as they are on the disk.
    pub bytes: Rc<Cell<u64>>,
    /// Of folders of logs, what belongs to which session.
    pub beside: HashMap<PathBuf, HashMap<String, Vec<PathBuf>>>,
    /// Of folders of logs, the titles that logs give to messages of others.
    pub titles: HashMap<PathBuf, HashMap<String, String>>,
    /// Work on each node of a long log that its taker wants done as soon as it is read: so that it is not held whole.
    pub finish: Option<fn(&mut Node)>,
    /// Asked between values: its error ends the reading.
    pub stop: Option<Box<dyn Fn() -> Result<()>>>,
}

/// A stream of values of a source.
pub type Stream = Values<Box<dyn Read>>;

impl Reading {
    /// The lines of a file, unpacked if it is compressed.
    pub fn lines(&mut self, path: &Path) -> Result<Stream> {
        Ok(Values::lines(self.open(path)?).at_most(LINE))
    }

    /// The values of a file.
    pub fn values(&mut self, path: &Path) -> Result<Stream> {
        Ok(Values::of(self.open(path)?))
    }

    /// Opens a file; a `.zst` is unpacked on the way.
    pub fn open(&mut self, path: &Path) -> Result<Box<dyn Read>> {
        let (file, length) = regular(path).map_err(|error| cannot(path, error))?;
        let counted = Counted { from: file, bytes: self.bytes.clone() };
        Ok(match path.extension().is_some_and(|end| end == "zst") {
            true => Box::new(Capped::new(Unpacked::new(counted), length)),
            false => Box::new(counted),
        })
    }

    /// An error if the reading is to end.
    pub fn check(&self) -> Result<()> {
        self.stop.as_ref().map_or(Ok(()), |stop| stop())
    }

    /// The next value. What is none is counted and stepped over; so is the rest of a file that cannot be read on.
    pub fn next<'v, R: Read>(&mut self, values: &'v mut Values<R>) -> Result<Option<Value<'v>>> {
        self.check()?;
        let mut odd = Odd::default();
        let found = values.advance(&mut odd);
        self.tally.skip_odd(odd);
        match found {
            Ok(found) => Ok(found.then(|| values.value())),
            Err(error) => self.tally.broken(error).map(|()| None),
        }
    }

    /// Reads a stream each of whose values is a conversation, if `read` knows it.
    pub fn conversations<R: Read>(
        &mut self,
        values: &mut Values<R>,
        read: impl Fn(Value<'_>) -> Option<Conversation>,
        each: &mut Each<'_>,
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

/// The error of a source that cannot be read.
pub fn cannot(path: &Path, error: io::Error) -> Error {
    Error::usage(format!("cannot read {}", path.display())).because(error)
}

/// Opens a regular file and waits for nothing.
pub fn regular(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((file, stat.st_size as u64)),
        _ => Err(io::Error::other("not a regular file")),
    }
}

/// The regular files of a folder by name; none where it is not there. No link is followed.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    files_below(folder, 0)
}

/// The regular files of a folder, and of those in it, so many levels down, by their paths.
pub fn files_below(folder: &Path, levels: usize) -> Vec<PathBuf> {
    let files = entries(folder, levels + 1).filter(|entry| entry.file_type().is_file());
    files.map(DirEntry::into_path).collect()
}

/// The folders of a folder by name.
pub fn folders_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder, 1).filter(|entry| entry.file_type().is_dir()).map(DirEntry::into_path).collect()
}

fn entries(folder: &Path, levels: usize) -> impl Iterator<Item = DirEntry> {
    WalkDir::new(folder).min_depth(1).max_depth(levels).sort_by_file_name().into_iter().flatten()
}

/// The first value of a file; `None` if it has none.
pub fn first_value<T>(path: &Path, tell: impl FnOnce(Value<'_>) -> T) -> Option<T> {
    let mut values = Values::of(Reading::default().open(path).ok()?).at_most(64 << 20);
    let mut odd = Odd::default();
    let found = values.advance(&mut odd).unwrap_or(false) && odd.bad == 0;
    found.then(|| tell(values.value()))
}

/// Reads a file's values as long as `tell` wants another one.
pub fn first_values(path: &Path, mut tell: impl FnMut(Value<'_>) -> bool) {
    let Ok(file) = Reading::default().open(path) else { return };
    let mut values = Values::lines(file).at_most(1 << 20);
    let mut odd = Odd::default();
    while values.advance(&mut odd).unwrap_or(false) && odd.bad == 0 && tell(values.value()) {}
}

/// Counts the bytes that are read.
struct Counted<R> {
    from: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(to)?;
        self.bytes.set(self.bytes.get() + n as u64);
        Ok(n)
    }
}

/// Ends with an error where an archive unpacks to too much.
pub struct Capped<R> {
    from: R,
    left: u64,
}

impl<R> Capped<R> {
    /// Of an archive of so many bytes.
    pub fn new(from: R, packed: u64) -> Capped<R> {
        Capped { from, left: most(packed) }
    }

    /// So many bytes at most.
    pub fn within(from: R, left: u64) -> Capped<R> {
        Capped { from, left }
    }

    /// The bytes that may still be read.
    pub fn left(&self) -> u64 {
        self.left
    }
}

/// Bytes that an archive of so many may unpack to.
pub fn most(packed: u64) -> u64 {
    packed.saturating_mul(RATIO).clamp(1 << 30, UNPACKED)
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(to)? as u64;
        self.left = self.left.checked_sub(n).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::QuotaExceeded,
                "16 GiB, and 200 times its size beyond the first GiB",
            )
        })?;
        Ok(n as usize)
    }
}
