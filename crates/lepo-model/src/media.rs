//! Files that go with a message, and how much of that a provider takes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;

use lepo_base::media::Media;

/// Bytes of a file that are encoded at a time: a multiple of three, so that the pieces join.
const PIECE: u64 = 192 << 10;

/// A file to be sent. It is read only while it is sent; clones share it.
#[derive(Debug, Clone)]
pub struct MediaFile {
    /// Type of the file.
    pub media: Media,
    /// Name of the file.
    pub name: String,
    /// Length in bytes of the file.
    pub len: u64,
    file: Arc<File>,
}

impl MediaFile {
    /// A file that is open for reading, and known to be of this type and length.
    pub fn new(media: Media, name: String, len: u64, file: File) -> MediaFile {
        MediaFile { media, name, len, file: Arc::new(file) }
    }

    /// The length of its base64.
    pub fn encoded_len(&self) -> u64 {
        encoded_len(self.len)
    }

    /// The base64 of the file in pieces. A file that is shorter than it was is an error.
    pub(super) fn encoded(self) -> Pieces {
        let (used, unused) = channel();
        Pieces { file: self, at: 0, bytes: Vec::new(), used, unused }
    }
}

/// The base64 of a file, a piece at a time. The memory of a piece that was sent is used again: to have it anew each
/// time would take longer than to encode it.
pub(super) struct Pieces {
    file: MediaFile,
    at: u64,
    bytes: Vec<u8>,
    used: Sender<Vec<u8>>,
    unused: Receiver<Vec<u8>>,
}

impl Pieces {
    fn piece(&mut self, len: u64) -> io::Result<Bytes> {
        self.bytes.resize(len as usize, 0);
        self.file.file.read_exact_at(&mut self.bytes, self.at)?;
        self.at += len;
        let mut text = self.unused.try_recv().unwrap_or_default();
        text.resize(encoded_len(len) as usize, 0);
        BASE64_STANDARD.encode_slice(&self.bytes, &mut text).map_err(io::Error::other)?;
        Ok(Bytes::from_owner(Piece { text, used: self.used.clone() }))
    }
}

impl Iterator for Pieces {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<io::Result<Bytes>> {
        let len = PIECE.min(self.file.len.saturating_sub(self.at));
        if len == 0 {
            return None;
        }
        // Nothing comes after an error.
        Some(self.piece(len).inspect_err(|_| self.at = u64::MAX))
    }
}

/// A piece that is being sent.
struct Piece {
    text: Vec<u8>,
    used: Sender<Vec<u8>>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // Once the file is at its end, its memory is of no more use.
        let _ = self.used.send(std::mem::take(&mut self.text));
    }
}

/// Two are equal that are the same open file.
impl PartialEq for MediaFile {
    fn eq(&self, other: &MediaFile) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
    }
}

/// The length of the base64 of so many bytes.
pub fn encoded_len(len: u64) -> u64 {
    len.div_ceil(3) * 4
}

/// The files that a provider takes; a limit that is `None` is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepts {
    /// The types.
    pub media: &'static [Media],
    /// Bytes of the base64 of one image.
    pub image: Option<u64>,
    /// Pixels of the longer side of an image.
    pub side: Option<u32>,
    /// So many images in one request, and then the longer side of each may have only so many pixels.
    pub many: Option<(usize, u32)>,
    /// Files in one request.
    pub count: Option<usize>,
    /// Bytes of the base64 of all files of one request.
    pub total: Option<u64>,
    /// Bytes of all PDFs of one request, as files.
    pub documents: Option<u64>,
}

impl Accepts {
    /// No files at all.
    pub const NOTHING: Accepts = Accepts {
        media: &[],
        image: None,
        side: None,
        many: None,
        count: None,
        total: None,
        documents: None,
    };

    /// Files of these types, without a known limit.
    pub const fn any(media: &'static [Media]) -> Accepts {
        Accepts { media, ..Accepts::NOTHING }
    }
}

/// PNG, JPEG, GIF and WebP.
pub const IMAGES: &[Media] = &[Media::Png, Media::Jpeg, Media::Gif, Media::Webp];

/// Images and PDF.
pub const IMAGES_AND_PDF: &[Media] = &Media::ALL;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_pieces_are_the_base64_of_the_whole() {
        for len in [0, 1, 2, 3, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 2] {
            let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            let media = MediaFile::new(Media::Png, "x".into(), len, file);
            let mut text = Vec::new();
            for piece in media.clone().encoded() {
                text.extend_from_slice(&piece.unwrap());
            }
            assert_eq!(text, BASE64_STANDARD.encode(&bytes).into_bytes());
            assert_eq!(media.encoded_len(), text.len() as u64);
        }
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let media = MediaFile::new(Media::Png, "x".into(), 10, tempfile::tempfile().unwrap());
        let pieces: Vec<_> = media.encoded().collect();
        assert!(matches!(pieces.as_slice(), [Err(_)]));
    }
}
