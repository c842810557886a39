//! Reading a source: files opened with care, their bytes counted, what cannot be read counted too.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags};

use super::blocks::Blocks;
use super::conversation::{Conversation, Node};
use super::json::Value;
use super::values::{Item, Trim, Values};
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
                return Err(Error::usage("an archive unpacks to more than it may").because(error));
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
    /// Bytes so far, as they are on the disk.
    pub bytes: Rc<Cell<u64>>,
    /// Of folders of logs, what belongs to which session.
    pub beside: HashMap<PathBuf, HashMap<String, Vec<PathBuf>>>,
    /// Of folders of logs, the titles that logs give to messages of others.
    pub titles: HashMap<PathBuf, HashMap<String, String>>,
    /// Work on each node that is done by the thread that read it, so that its taker need not do all of that alone.
    pub finish: Option<fn(&mut Node)>,
    /// Threads that values are worked on by, if not as many as there are processors.
    pub threads: Option<usize>,
    /// Asked between values: its error ends the reading.
    pub stop: Option<Box<dyn Fn() -> Result<()>>>,
}

/// Does the work on each of these nodes, if there is any.
pub fn finish(nodes: &mut [Node], finish: Option<fn(&mut Node)>) {
    if let Some(finish) = finish {
        nodes.iter_mut().for_each(finish);
    }
}

/// A stream of values of a source.
pub type Stream = Values<Box<dyn Read>>;

impl Reading {
    /// The lines of a file, unpacked if it is compressed.
    pub fn lines(&mut self, path: &Path) -> Result<Stream> {
        let (from, blocks) = self.open_with_blocks(path)?;
        Ok(Values::lines(from).at_most(LINE).in_blocks(blocks))
    }

    /// The lines of a file, of which `trim` tells how much is worth to be scanned.
    pub fn trimmed_lines(&mut self, path: &Path, trim: Trim) -> Result<Stream> {
        Ok(self.lines(path)?.trimmed(trim))
    }

    /// The values of a file.
    pub fn values(&mut self, path: &Path) -> Result<Stream> {
        Ok(Values::of(self.open(path)?))
    }

    /// Opens a file; a `.zst` is unpacked on the way.
    pub fn open(&mut self, path: &Path) -> Result<Box<dyn Read>> {
        Ok(self.open_with_blocks(path)?.0)
    }

    fn open_with_blocks(&mut self, path: &Path) -> Result<(Box<dyn Read>, Option<Blocks>)> {
        let (file, length) = regular(path).map_err(|error| cannot(path, error))?;
        let file = Arc::new(file);
        let counted = Counted { from: file.clone(), bytes: self.bytes.clone() };
        if path.extension().is_some_and(|end| end == "zst") {
            return Ok((Box::new(Capped::new(Unpacked::new(counted), length)), None));
        }
        // One of the system's own may have content and no length.
        let blocks = (length > 0).then(|| Blocks::new(file, length));
        Ok((Box::new(counted), blocks))
    }

    /// An error if the reading is to end.
    pub fn check(&self) -> Result<()> {
        self.stop.as_ref().map_or(Ok(()), |stop| stop())
    }

    /// The next value. What is none is counted and stepped over; so is the rest of a file that cannot be read on.
    pub fn next<'v, R: Read>(&mut self, values: &'v mut Values<R>) -> Result<Option<Value<'v>>> {
        self.check()?;
        loop {
            match values.next() {
                Ok(None) => return Ok(None),
                Ok(Some(Item::Value | Item::Passed)) => break,
                Ok(Some(Item::Bad)) => self.tally.skip("not JSON", 1),
                Ok(Some(Item::Torn)) => self.tally.skip("torn", 1),
                Ok(Some(Item::Large)) => self.tally.skip("too large", 1),
                Ok(Some(Item::Behind)) => self.tally.skip(BEHIND, 1),
                Err(error) => return self.tally.broken(error).map(|()| None),
            }
        }
        Ok(values.value())
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
    entries(folder, false)
}

/// The folders of a folder by name. No link is followed.
pub fn folders_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder, true)
}

fn entries(folder: &Path, folders: bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_it = |entry: &std::fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| if folders { kind.is_dir() } else { kind.is_file() })
    };
    let mut found: Vec<PathBuf> = entries.flatten().filter(is_it).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// The first value of a file; `None` if it has none.
pub fn first_value<T>(path: &Path, tell: impl FnOnce(Value<'_>) -> T) -> Option<T> {
    let mut values = Values::of(Reading::default().open(path).ok()?).at_most(64 << 20);
    match values.next() {
        Ok(Some(Item::Value)) => values.value().map(tell),
        _ => None,
    }
}

/// Reads a file's values as long as `tell` wants another one.
pub fn first_values(path: &Path, mut tell: impl FnMut(Value<'_>) -> bool) {
    let Ok(file) = Reading::default().open(path) else { return };
    let mut values = Values::lines(file).at_most(1 << 20);
    while let Ok(Some(Item::Value)) = values.next() {
        if !values.value().is_some_and(&mut tell) {
            return;
        }
    }
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
