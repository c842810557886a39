//! Bodies that a server compressed unasked: gzip and zlib, recognised by their first bytes.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::{MultiGzDecoder, ZlibDecoder};

/// Decompresses a body as it arrives; an uncompressed one passes unchanged.
#[derive(Default)]
pub(super) enum Unpacking {
    /// No bytes have come.
    #[default]
    Start,
    /// The first byte of a possible signature has come.
    Mark(u8),
    /// The body is not compressed.
    Plain,
    /// The body is compressed with gzip.
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// The body is compressed with zlib, which HTTP calls `deflate`.
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
}

impl Unpacking {
    /// Returns the decompressed bytes.
    pub fn feed(&mut self, bytes: Bytes) -> io::Result<Bytes> {
        let bytes = match self {
            Unpacking::Plain => return Ok(bytes),
            Unpacking::Gzip(_) | Unpacking::Zlib(_) => bytes,
            Unpacking::Mark(first) => Bytes::from([&[*first][..], &bytes].concat()),
            Unpacking::Start => bytes,
        };
        if let Unpacking::Start | Unpacking::Mark(_) = self {
            *self = match *bytes {
                [] => return Ok(bytes),
                [first @ (0x1f | 0x78)] => {
                    *self = Unpacking::Mark(first);
                    return Ok(Bytes::new());
                }
                [0x1f, 0x8b, ..] => Unpacking::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
                [0x78, 0x01 | 0x9c | 0xda, ..] => Unpacking::Zlib(Box::new(ZlibDecoder::new(Vec::new()))),
                _ => Unpacking::Plain,
            };
        }
        match self {
            Unpacking::Gzip(decoder) => {
                decoder.write_all(&bytes)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()).into())
            }
            Unpacking::Zlib(decoder) => {
                decoder.write_all(&bytes)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()).into())
            }
            _ => Ok(bytes),
        }
    }

    /// Returns the byte that waited for a second one.
    pub fn end(&mut self) -> Bytes {
        match std::mem::replace(self, Unpacking::Plain) {
            Unpacking::Mark(first) => Bytes::from(vec![first]),
            _ => Bytes::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    fn unpacked(body: &[u8], size: usize) -> Vec<u8> {
        let mut unpacking = Unpacking::default();
        let mut whole = Vec::new();
        for piece in body.chunks(size) {
            whole.extend_from_slice(&unpacking.feed(Bytes::copy_from_slice(piece)).unwrap());
        }
        whole.extend_from_slice(&unpacking.end());
        whole
    }

    #[test]
    fn what_is_packed_is_unpacked_and_all_else_passes() {
        let text = "data: 안녕\n\n".repeat(50);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(text.as_bytes()).unwrap();
        let zlib = zlib.finish().unwrap();
        let twice = [gzip.clone(), gzip.clone()].concat();
        for (body, expected) in [
            (gzip.as_slice(), text.clone()),
            (&zlib, text.clone()),
            (&twice, text.repeat(2)),
            (text.as_bytes(), text.clone()),
            (b"x", "x".to_owned()),
            (b"xy", "xy".to_owned()),
            (b"", String::new()),
        ] {
            for size in [1, 2, 7, 4096] {
                assert_eq!(unpacked(body, size), expected.as_bytes(), "by {size}");
            }
        }
        let broken = [0x1f, 0x8b, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9];
        assert!(Unpacking::default().feed(Bytes::copy_from_slice(&broken)).is_err());
    }
}
