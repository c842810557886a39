//! Decompresses an answer: gzip, zlib and brotli as the bytes arrive, zstd at the end.
//!
//! brotli-decompressor is the decoder of the Rust world: without `unsafe` by default, no other crate than its
//! allocator's, and it writes what it has at each flush, as answers that are still coming need it.

use std::io::{self, Read, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

/// Maximum bytes of an uncompressed answer, against bombs.
pub const LARGEST: usize = 256 << 20;

/// Size in bytes of brotli's output buffer.
const BUFFER: usize = 16 << 10;

/// A decoder for a `Content-Encoding`.
pub enum AnswerUnpacker {
    /// The bytes are not compressed.
    Plain,
    /// gzip.
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// zlib, which HTTP calls `deflate`.
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    /// brotli.
    Brotli(Box<DecompressorWriter<Vec<u8>>>),
    /// zstd, collected up to its end.
    Zstd(Vec<u8>),
}

impl AnswerUnpacker {
    /// Creates the decoder of an encoding; `None` for one that is not known.
    pub fn new(encoding: Option<&str>) -> Option<AnswerUnpacker> {
        Some(match encoding.unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "" | "identity" => AnswerUnpacker::Plain,
            "gzip" | "x-gzip" => AnswerUnpacker::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            "deflate" => AnswerUnpacker::Zlib(Box::new(ZlibDecoder::new(Vec::new()))),
            "br" => AnswerUnpacker::Brotli(Box::new(DecompressorWriter::new(Vec::new(), BUFFER))),
            "zstd" => AnswerUnpacker::Zstd(Vec::new()),
            _ => return None,
        })
    }

    /// Decompresses more bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            AnswerUnpacker::Plain => Ok(bytes.to_vec()),
            AnswerUnpacker::Gzip(decoder) => {
                decoder.write_all(bytes)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            AnswerUnpacker::Zlib(decoder) => {
                decoder.write_all(bytes)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            AnswerUnpacker::Brotli(decoder) => {
                decoder.write_all(bytes)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            AnswerUnpacker::Zstd(packed) => {
                if packed.len() + bytes.len() > LARGEST {
                    return Err(io::Error::other("the answer is too large"));
                }
                packed.extend_from_slice(bytes);
                Ok(Vec::new())
            }
        }
    }

    /// Returns the remaining bytes. A torn zstd stream yields the bytes before the tear.
    pub fn finish(&mut self) -> Vec<u8> {
        let AnswerUnpacker::Zstd(packed) = self else { return Vec::new() };
        let packed = std::mem::take(packed);
        let mut whole = Vec::new();
        if let Ok(decoder) = StreamingDecoder::new(packed.as_slice()) {
            // An error ends the text where it is.
            let _ = decoder.take(LARGEST as u64).read_to_end(&mut whole);
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    /// `data: 안녕\n\n` 50 times, by another encoder of brotli.
    const BROTLI: &[u8] = &[
        0x1b, 0xbb, 0x02, 0xf8, 0x9d, 0x09, 0x76, 0x6c, 0x95, 0xc1, 0x61, 0xed, 0xcd, 0x8a, 0x6c, 0xbd, 0x15,
        0x40, 0xc2, 0xd8, 0x65, 0x25, 0x62, 0x61, 0xe9, 0xd0, 0x45, 0x83, 0xf1, 0x00, 0x68, 0x34, 0xee, 0x01,
    ];

    #[test]
    fn every_encoding_is_unpacked_wherever_reads_end() {
        let text = "data: 안녕\n\n".repeat(50).into_bytes();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&text).unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&text).unwrap();
        for (encoding, packed) in [
            (None, text.clone()),
            (Some("identity"), text.clone()),
            (Some("gzip"), gzip.finish().unwrap()),
            (Some("deflate"), zlib.finish().unwrap()),
            (Some("br"), BROTLI.to_vec()),
            (Some("zstd"), compress_to_vec(text.as_slice(), CompressionLevel::Fastest)),
        ] {
            for size in [1, 7, 4096] {
                let mut unpacker = AnswerUnpacker::new(encoding).unwrap();
                let mut whole = Vec::new();
                for piece in packed.chunks(size) {
                    whole.extend(unpacker.feed(piece).unwrap());
                }
                whole.extend(unpacker.finish());
                assert_eq!(whole, text, "{encoding:?} by {size}");
            }
        }
        assert!(AnswerUnpacker::new(Some("compress")).is_none());
        assert!(AnswerUnpacker::new(Some("gzip, br")).is_none());
        let mut broken = AnswerUnpacker::new(Some("gzip")).unwrap();
        assert!(broken.feed(b"no gzip at all").is_err());
    }
}
