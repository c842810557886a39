//! Unpacks Zstandard while it is read, one frame after another.
//!
//! A log that is still being written, or was cut, ends within a block. All blocks before it are returned, then the
//! error: the decoder alone would withhold up to its window, which may be all.

use std::io::{self, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// An empty last block and a checksum, which the decoder does not verify.
const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

const ONE: BlockDecodingStrategy = BlockDecodingStrategy::UptoBlocks(1);

pub struct ZstdReader<R> {
    from: BufReader<R>,
    decoder: FrameDecoder,
    /// An error to return after all bytes read before it.
    error: Option<io::Error>,
    has_ended: bool,
}

impl<R: Read> ZstdReader<R> {
    pub fn new(from: R) -> ZstdReader<R> {
        ZstdReader { from: BufReader::new(from), decoder: FrameDecoder::new(), error: None, has_ended: false }
    }

    /// Starts the next frame; false at the end.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            let mut magic = Vec::new();
            self.from.by_ref().take(4).read_to_end(&mut magic)?;
            if magic.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(magic.as_slice().chain(&mut self.from)) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut self.from.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(self.error(&error)),
            }
        }
    }

    /// Converts an error of the decoder; at the end of the file it means that the frame is incomplete.
    fn error(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.from.by_ref().bytes().next() {
            None => io::ErrorKind::UnexpectedEof.into(),
            Some(_) => io::Error::other(error.to_string()),
        }
    }
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while !self.has_ended && !to.is_empty() {
            let n = self.decoder.read(to)?;
            if n > 0 {
                return Ok(n);
            }
            if let Some(error) = self.error.take() {
                self.has_ended = true;
                return Err(error);
            }
            if self.decoder.is_finished() {
                self.has_ended = !self.next_frame().inspect_err(|_| self.has_ended = true)?;
            } else if let Err(error) = self.decoder.decode_blocks(&mut self.from, ONE) {
                self.error = Some(self.error(&error));
                // The decoder releases its window only after a last block. If that block itself was torn, it already
                // has.
                let _ = self.decoder.decode_blocks(END.as_slice(), ONE);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn unpack(packed: &[u8]) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut all = Vec::new();
        let error = ZstdReader::new(packed).read_to_end(&mut all).err();
        (all, error.map(|error| error.kind()))
    }

    fn lines(count: usize) -> Vec<u8> {
        (0..count).flat_map(|i| format!("{{\"number\":{i},\"square\":{}}}\n", i * i).into_bytes()).collect()
    }

    #[test]
    fn frames_follow_each_other() {
        let (text, more) = (lines(20_000), lines(10));
        let mut packed = compress_to_vec(text.as_slice(), CompressionLevel::Fastest);
        assert!(packed.len() < text.len() / 2);
        assert_eq!(unpack(&packed), (text.clone(), None));
        // A skippable frame, and another one.
        packed.extend([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, b'x', b'y', b'z']);
        packed.extend(compress_to_vec(more.as_slice(), CompressionLevel::Fastest));
        assert_eq!(unpack(&packed), ([text.clone(), more.clone()].concat(), None));
        packed.extend(b"something else");
        assert_eq!(unpack(&packed), ([text, more].concat(), Some(io::ErrorKind::Other)));
        assert_eq!(unpack(b""), (vec![], None));
    }

    #[test]
    fn all_blocks_before_a_tear_are_read() {
        let text = lines(20_000);
        let packed = compress_to_vec(text.as_slice(), CompressionLevel::Fastest);
        let torn = Some(io::ErrorKind::UnexpectedEof);
        let mut last = 0;
        for end in (0..packed.len()).step_by(9973).chain([packed.len() - 5]).skip(1) {
            let (read, error) = unpack(&packed[..end]);
            assert!(text.starts_with(&read) && read.len() >= last, "cut at {end}");
            assert!(error == torn, "cut at {end}: {error:?}");
            last = read.len();
        }
        // At most the torn block is lost.
        let block = 128 << 10;
        assert!(last + block >= text.len() && last > block, "{last} of {}", text.len());
    }

    #[test]
    fn rubbish_ends_with_an_error() {
        let mut packed = compress_to_vec(lines(20_000).as_slice(), CompressionLevel::Fastest);
        for at in (4..packed.len()).step_by(packed.len() / 12) {
            packed[at] ^= 0x55;
            unpack(&packed);
        }
        assert!(unpack(&packed).1.is_some());
        assert!(unpack(b"nonsense and more of it").1.is_some());
    }
}
