//! Continues reading the journal where an earlier read ended, including other processes' lines.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

use super::journal::{JOURNAL, Journal};
use super::journal_record::JournalRecord;

/// Bytes read at once on the way back from the end.
const BLOCK: u64 = 1 << 16;

/// Number of bytes remembered before the cursor, to detect a rewritten journal.
const MARK: u64 = 64;

/// A position in the journal.
#[derive(Debug, Default)]
pub struct JournalCursor {
    /// The inode of the file, and the offset up to which it has been read.
    read: Option<(u64, u64)>,
    /// The last bytes before that offset, at most [`MARK`] of them.
    mark: Vec<u8>,
}

impl JournalCursor {
    /// Passes the whole lines since the last call to `take`; on the first call, those written at `since` or later,
    /// and some earlier ones. Returns whether it started afresh: on the first call, and after the journal was
    /// rewritten.
    pub fn read_on(&mut self, journal: &Journal<'_>, since: u64, take: impl FnMut(JournalRecord)) -> bool {
        // As everywhere, an unreadable journal counts as empty.
        let Ok(file) = journal.store.dir.open_file(JOURNAL) else {
            return std::mem::take(self).read.is_some();
        };
        self.read_file(file, since, take).unwrap_or(false)
    }

    fn read_file(
        &mut self,
        mut file: File,
        since: u64,
        mut take: impl FnMut(JournalRecord),
    ) -> io::Result<bool> {
        let meta = file.metadata()?;
        let goes_on = match self.read {
            Some((inode, at)) => inode == meta.ino() && at <= meta.len() && self.is_marked(&mut file, at)?,
            None => false,
        };
        let from = match self.read {
            Some((_, at)) if goes_on => at,
            _ => find_start(&mut file, meta.len(), since)?,
        };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(meta.len().saturating_sub(from)).read_to_end(&mut bytes)?;
        // The next call reads a line that is still being written.
        let end = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        bytes.truncate(end);
        bytes.split(|byte| *byte == b'\n').filter_map(JournalRecord::parse).for_each(&mut take);
        if end > 0 || !goes_on {
            let mark = bytes.len().saturating_sub(MARK as usize);
            self.mark = bytes.split_off(mark);
        }
        self.read = Some((meta.ino(), from + end as u64));
        Ok(!goes_on)
    }

    /// Whether the bytes read last still precede the offset `at`.
    fn is_marked(&self, file: &mut File, at: u64) -> io::Result<bool> {
        let mut there = vec![0; self.mark.len()];
        file.seek(SeekFrom::Start(at.saturating_sub(there.len() as u64)))?;
        Ok(file.read_exact(&mut there).is_ok() && there == self.mark)
    }
}

/// Returns the start of a line older than `since`, or of the journal. All earlier lines are older too, because lines
/// are only appended.
fn find_start(file: &mut File, len: u64, since: u64) -> io::Result<u64> {
    let mut from = len;
    while from > 0 {
        from = from.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(from))?;
        let mut block = Vec::new();
        file.take(BLOCK).read_to_end(&mut block)?;
        let mut start =
            if from == 0 { 0 } else { memchr::memchr(b'\n', &block).map_or(block.len(), |at| at + 1) };
        // Find the first line of the block that has a time.
        while let Some(end) = memchr::memchr(b'\n', block.get(start..).unwrap_or_default()) {
            let line = block.get(start..start + end).unwrap_or_default();
            match JournalRecord::parse(line).map_or(0, |record| record.time) {
                0 => start += end + 1,
                time if time < since => return Ok(from + start as u64),
                _ => break,
            }
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn line(time: u64) -> String {
        format!("{{\"time\":{time},\"bubb\":null,\"what\":\"answer\",\"output\":1}}\n")
    }

    /// Returns the times of the lines read, and whether reading started afresh.
    fn read(tail: &mut JournalCursor, path: &std::path::Path, since: u64) -> (bool, Vec<u64>) {
        let mut times = Vec::new();
        let anew =
            tail.read_file(File::open(path).unwrap(), since, |record| times.push(record.time)).unwrap();
        (anew, times)
    }

    #[test]
    fn each_line_is_read_once_by_whomever_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let append = |text: &str| {
            let mut file = File::options().append(true).create(true).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        append("");
        let mut tail = JournalCursor::default();
        assert_eq!(read(&mut tail, &path, 0), (true, vec![]));
        assert_eq!(read(&mut tail, &path, 0), (false, vec![]));
        append(&line(1));
        assert_eq!(read(&mut tail, &path, 0), (false, vec![1]));
        let torn = line(3);
        let (head, rest) = torn.split_at(20);
        append(&(line(2) + "{\"torn\n" + head));
        assert_eq!(read(&mut tail, &path, 0), (false, vec![2]));
        assert_eq!(read(&mut tail, &path, 0), (false, vec![]));
        append(rest);
        assert_eq!(read(&mut tail, &path, 0), (false, vec![3]));
        // Rewritten: shorter or of equal length, in the same file or in another one.
        std::fs::write(&path, line(4)).unwrap();
        assert_eq!(read(&mut tail, &path, 0), (true, vec![4]));
        std::fs::write(&path, line(5) + &line(6)).unwrap();
        assert_eq!(read(&mut tail, &path, 0), (true, vec![5, 6]));
        let other = dir.path().join("other");
        std::fs::write(&other, line(5) + &line(6) + &line(7)).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(read(&mut tail, &path, 0), (true, vec![5, 6, 7]));
        assert_eq!(read(&mut tail, &path, 0), (false, vec![]));
    }

    #[test]
    fn old_lines_are_hardly_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut text: String = (0..100_000).map(line).collect();
        text.insert_str(0, &format!("{}\n", "x".repeat(200_000)));
        for (since, end) in [(99_999, ""), (99_000, "torn"), (50_000, "no json\n"), (0, ""), (200_000, "")] {
            std::fs::write(&path, format!("{text}{end}")).unwrap();
            let (anew, times) = read(&mut JournalCursor::default(), &path, since);
            assert!(anew);
            let first = times.first().copied().unwrap_or(100_000);
            assert!(first < since || since == 0 && first == 0, "{since}: from {first}");
            assert!(since.min(100_000) - first < 3000, "{since}: from {first}");
            assert_eq!(times, (first..100_000).collect::<Vec<u64>>());
        }
        // A line longer than a block, followed by a short one.
        std::fs::write(&path, format!("{}\n{}", "x".repeat(200_000), line(7))).unwrap();
        assert_eq!(read(&mut JournalCursor::default(), &path, 5).1, [7]);
    }
}
