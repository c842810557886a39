//! Files of a message, and the limits of a provider.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;

use lepo_base::media::Media;

/// Bytes of a file per piece of base64: a multiple of three, so that the pieces can be concatenated.
const PIECE: u64 = 192 << 10;

/// A file to send. Its content is read only while it is sent; clones share the descriptor.
#[derive(Debug, Clone)]
pub struct MediaFile {
    /// The type of the file.
    pub media: Media,
    /// The name of the file, for the model.
    pub name: String,
    /// The length in bytes.
    pub len: u64,
    file: Arc<File>,
}

impl MediaFile {
    /// Creates a file from a descriptor that is open for reading, with its known type and length.
    pub fn new(media: Media, name: String, len: u64, file: File) -> MediaFile {
        MediaFile { media, name, len, file: Arc::new(file) }
    }

    /// Returns the length of its base64 in bytes.
    pub fn encoded_len(&self) -> u64 {
        encoded_len(self.len)
    }

    /// Returns the base64 of the file in pieces. A file that has become shorter is an error.
    pub(super) fn encoded(self) -> Base64Chunks {
        let (used, unused) = channel();
        Base64Chunks { file: self, at: 0, bytes: Vec::new(), used, unused }
    }
}

/// The base64 of a file, piece by piece. The buffer of a sent piece is reused: a new allocation for each piece
/// would take longer than its encoding.
pub(super) struct Base64Chunks {
    file: MediaFile,
    at: u64,
    bytes: Vec<u8>,
    used: Sender<Vec<u8>>,
    unused: Receiver<Vec<u8>>,
}

impl Base64Chunks {
    fn piece(&mut self, len: u64) -> io::Result<Bytes> {
        self.bytes.resize(len as usize, 0);
        self.file.file.read_exact_at(&mut self.bytes, self.at)?;
        self.at += len;
        let mut text = self.unused.try_recv().unwrap_or_default();
        text.resize(encoded_len(len) as usize, 0);
        BASE64_STANDARD.encode_slice(&self.bytes, &mut text).map_err(io::Error::other)?;
        Ok(Bytes::from_owner(Base64Chunk { text, used: self.used.clone() }))
    }
}

impl Iterator for Base64Chunks {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<io::Result<Bytes>> {
        let len = PIECE.min(self.file.len.saturating_sub(self.at));
        if len == 0 {
            return None;
        }
        // Iteration ends after an error.
        Some(self.piece(len).inspect_err(|_| self.at = u64::MAX))
    }
}

/// A piece that is being sent.
struct Base64Chunk {
    text: Vec<u8>,
    used: Sender<Vec<u8>>,
}

impl AsRef<[u8]> for Base64Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

impl Drop for Base64Chunk {
    fn drop(&mut self) {
        // At the end of the file the receiver is gone, and the buffer is dropped.
        let _ = self.used.send(std::mem::take(&mut self.text));
    }
}

/// Two values are equal if they share one open file.
impl PartialEq for MediaFile {
    fn eq(&self, other: &MediaFile) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
    }
}

/// Returns the length of the base64 of `len` bytes.
pub fn encoded_len(len: u64) -> u64 {
    len.div_ceil(3) * 4
}

/// The files that a provider accepts; a limit of `None` is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSupport {
    /// The accepted types.
    pub media: &'static [Media],
    /// The limit for the base64 of one image, in bytes.
    pub image: Option<u64>,
    /// The limit for the longer side of an image, in pixels.
    pub max_side: Option<u32>,
    /// Above this number of images in one request, the limit for the longer side of each, in pixels.
    pub many_images: Option<(usize, u32)>,
    /// The limit for the number of files in one request.
    pub count: Option<usize>,
    /// The limit for the base64 of all files of one request, in bytes.
    pub total: Option<u64>,
    /// The limit for all PDFs of one request, in bytes before base64.
    pub documents: Option<u64>,
}

impl FileSupport {
    /// Accepts no files.
    pub const NOTHING: FileSupport = FileSupport {
        media: &[],
        image: None,
        max_side: None,
        many_images: None,
        count: None,
        total: None,
        documents: None,
    };

    /// Accepts files of these types, without a known limit.
    pub const fn any(media: &'static [Media]) -> FileSupport {
        FileSupport { media, ..FileSupport::NOTHING }
    }
}

/// PNG, JPEG, GIF and WebP.
pub const IMAGES: &[Media] = &[Media::Png, Media::Jpeg, Media::Gif, Media::Webp];

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
