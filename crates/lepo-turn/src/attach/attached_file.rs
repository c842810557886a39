//! Chooses the files of a conv to send: files of its user bubbs whose blobs exist unchanged, as far as the
//! provider accepts them. The question's own files are always sent; of earlier ones, the oldest are dropped
//! first.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use super::limits::{Size, first_sent, is_taken};
use lepo_base::media::{MAGIC, Media};
use lepo_base::role::Role;
use lepo_model::{FileSupport, MediaFile, SharedText};
use lepo_store::bubb::{Attachment, ContentHash, clean_name, split_attachments};
use lepo_store::store::{Store, blobs_of_result};

/// Maximum number of files to send per result.
const MOST_FILES: usize = 100;

/// A file of a user bubb, or of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachedFile {
    /// Line of the file.
    pub line: Attachment,
    /// The file, if it is to be sent.
    pub file: Option<MediaFile>,
    longer_side: Option<u32>,
    /// Whether it was already reported as not sent.
    is_settled: bool,
}

/// Files that are not sent, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnsentFiles {
    /// Names of files whose blob is missing, or does not match its hash.
    pub broken: Vec<String>,
    /// Names of files that the provider does not accept.
    pub refused: Vec<String>,
    /// Names of files that exceed the limits of a request.
    pub beyond: Vec<String>,
}

impl UnsentFiles {
    /// Whether all files are sent.
    pub fn is_empty(&self) -> bool {
        self.broken.is_empty() && self.refused.is_empty() && self.beyond.is_empty()
    }
}

impl AttachedFile {
    /// Returns the files of a bubb; only user bubbs have files. Opens each, and verifies its hash.
    pub fn read(store: &Store, role: Role, text: &str) -> Vec<AttachedFile> {
        let lines = if role == Role::User { split_attachments(text).1 } else { Vec::new() };
        lines.into_iter().map(|line| AttachedFile::find(store, line)).collect()
    }

    /// Returns the images and documents among the blobs in the result of a server's tool, recognised by their
    /// bytes.
    pub fn of_result(store: &Store, tool: &str, text: &str) -> Vec<AttachedFile> {
        let hashes = blobs_of_result(text);
        hashes
            .into_iter()
            .take(MOST_FILES)
            .filter_map(|hash| AttachedFile::of_blob(store, tool, hash))
            .collect()
    }

    fn of_blob(store: &Store, tool: &str, hash: ContentHash) -> Option<AttachedFile> {
        let (mut file, len) = store.open_proven_blob(&hash).ok()??;
        let mut magic = Vec::new();
        (&mut file).take(MAGIC as u64).read_to_end(&mut magic).ok()?;
        let media = Media::from_magic(&magic)?;
        file.seek(SeekFrom::Start(0)).ok()?;
        let longer_side = media.is_image().then(|| side_of(&file));
        // All servers reject bytes that only start like an image.
        if longer_side.is_some_and(|longer_side| longer_side.is_none_or(|longer_side| longer_side == 0)) {
            return None;
        }
        file.seek(SeekFrom::Start(0)).ok()?;
        let name = clean_name(tool).unwrap_or_else(|| "result".to_string());
        let line = Attachment { media, len, name: format!("{name}.{}", media.extension()), hash };
        Some(AttachedFile::open(line, Some(file), longer_side.flatten()))
    }

    fn find(store: &Store, line: Attachment) -> AttachedFile {
        let Ok(Some((file, len))) = store.open_proven_blob(&line.hash) else {
            return AttachedFile::open(line, None, None);
        };
        let mut file = file;
        if len != line.len || file.seek(SeekFrom::Start(0)).is_err() {
            return AttachedFile::open(line, None, None);
        }
        let longer_side = side_of(&file).filter(|_| line.media.is_image());
        AttachedFile::open(line, Some(file), longer_side)
    }

    /// Creates the attachment of a line, from its blob if that exists and is unchanged.
    pub(super) fn open(line: Attachment, file: Option<File>, longer_side: Option<u32>) -> AttachedFile {
        let file = file.map(|file| MediaFile::new(line.media, line.name.clone(), line.len, file));
        AttachedFile { line, file, longer_side, is_settled: false }
    }

    fn size(&self) -> Size {
        Size { media: self.line.media, len: self.line.len, longer_side: self.longer_side }
    }
}

/// Reads the longer side of an image, in pixels, from its header.
fn side_of(file: &File) -> Option<u32> {
    let size = imagesize::reader_size(BufReader::new(file)).ok()?;
    Some(u32::try_from(size.width.max(size.height)).unwrap_or(u32::MAX))
}

/// Returns a user bubb's text for a model: a short label replaces each attachment line, and mentions if the
/// file is not sent.
pub fn sent_text(text: &SharedText, files: &[AttachedFile]) -> SharedText {
    if files.is_empty() {
        return text.clone();
    }
    let label = |attached: &AttachedFile| match &attached.file {
        Some(_) => attached.line.label(),
        None => format!("[{} {}, not sent]", attached.line.media.mime(), attached.line.name),
    };
    let labels: Vec<String> = files.iter().map(label).collect();
    format!("{}\n\n{}", split_attachments(text).0, labels.join("\n")).trim_start().to_string().into()
}

/// Removes the files that are not to be sent from a conv's bubbs, given in order, and returns them by reason.
pub fn choose<'a>(
    bubbs: impl Iterator<Item = &'a mut Vec<AttachedFile>>,
    accepts: &FileSupport,
) -> UnsentFiles {
    let mut left = UnsentFiles::default();
    let mut files: Vec<&mut AttachedFile> = Vec::new();
    let mut groups = Vec::new();
    let messages = bubbs.enumerate().flat_map(|(at, files)| files.iter_mut().map(move |file| (at, file)));
    for (at, attached) in messages {
        let name = attached.line.name.clone();
        if attached.is_settled {
            continue;
        }
        if attached.file.is_none() {
            attached.is_settled = true;
            left.broken.push(name);
        } else if !is_taken(attached.size(), accepts) {
            (attached.file, attached.is_settled) = (None, true);
            left.refused.push(name);
        } else {
            files.push(attached);
            groups.resize(at + 1, 0);
            groups[at] += 1;
        }
    }
    let sizes: Vec<Size> = files.iter().map(|attached| attached.size()).collect();
    let beyond = first_sent(&groups, &sizes, accepts);
    for attached in files.into_iter().take(beyond) {
        (attached.file, attached.is_settled) = (None, true);
        left.beyond.push(attached.line.name.clone());
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::media::Media;
    use lepo_model::IMAGES;

    fn attached(name: &str, media: Media, len: u64) -> AttachedFile {
        let line = Attachment { media, len, name: name.into(), hash: [0xaa; 32].into() };
        let file = MediaFile::new(media, name.into(), len, tempfile::tempfile().unwrap());
        AttachedFile { line, file: Some(file), longer_side: Some(1), is_settled: false }
    }

    #[test]
    fn the_oldest_give_way() {
        let accepts = FileSupport { total: Some(400), ..FileSupport::any(IMAGES) };
        let mut bubbs = [
            vec![attached("old", Media::Png, 150), attached("doc", Media::Pdf, 10)],
            vec![attached("huge", Media::Png, 4000), attached("lost", Media::Png, 1)],
            vec![attached("a", Media::Png, 120), attached("b", Media::Png, 120)],
        ];
        bubbs[1][1].file = None;
        let left = choose(bubbs.iter_mut(), &accepts);
        assert_eq!(left.broken, ["lost"]);
        assert_eq!(left.refused, ["doc", "huge"]);
        assert_eq!(left.beyond, ["old"]);
        let sent: Vec<&str> = bubbs
            .iter()
            .flatten()
            .filter(|attached| attached.file.is_some())
            .map(|attached| attached.line.name.as_str())
            .collect();
        assert_eq!(sent, ["a", "b"]);
        assert!(!left.is_empty());
        assert_eq!(choose(bubbs.iter_mut(), &accepts), UnsentFiles::default(), "each is told once");
        assert_eq!(choose(bubbs[2..].iter_mut(), &accepts), UnsentFiles::default());
    }
}
