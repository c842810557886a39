//! The JSON body of a request in pieces: JSON, long texts and files. A text is escaped and a file read only when it is
//! sent, so that memory has one copy of each, whatever its length.

use std::io;

use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, channel};

use super::media::{Base64Chunks, MediaFile};
use super::text::SharedText;

/// Bytes of a long text per chunk, before escaping.
const SLICE: usize = 64 << 10;

/// Number of chunks in advance of the sender; a chunk of a file has a quarter of a megabyte.
const AHEAD: usize = 32;

/// A JSON document in pieces. Clones share the long texts.
#[derive(Debug, Clone)]
pub(super) struct Payload {
    parts: Vec<BodyPart>,
    /// Length of `parts` in bytes, escaped and encoded.
    length: usize,
}

#[derive(Debug, Clone)]
pub(super) enum BodyPart {
    Json(Bytes),
    /// The inside of a JSON string, before escaping.
    Text(SharedText),
    /// A file that is not read yet, for base64.
    File(MediaFile),
}

impl Payload {
    pub fn new(parts: Vec<BodyPart>) -> Payload {
        let length = |part: &BodyPart| match part {
            BodyPart::Json(json) => json.len(),
            BodyPart::Text(text) => escaped_length(text),
            BodyPart::File(file) => file.encoded_len() as usize,
        };
        Payload { length: parts.iter().map(length).sum(), parts }
    }

    /// Returns the length of the body in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Whether the body has files, which may fail to be read.
    pub fn has_files(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, BodyPart::File(_)))
    }

    /// Returns the body in chunks, each made on demand.
    pub fn chunks(self) -> impl Iterator<Item = io::Result<Bytes>> + Send {
        self.parts.into_iter().flat_map(BodyChunks::new)
    }

    /// Returns the body in chunks, made by a separate thread some megabytes in advance, so that reading a large
    /// file overlaps with sending it. `None` if no thread can be spawned.
    pub fn chunks_ahead(&self) -> Option<Receiver<io::Result<Bytes>>> {
        let (sender, receiver) = channel(AHEAD);
        let chunks = self.clone().chunks();
        // If the request is cancelled, the receiver is gone and the thread ends.
        let work = move || {
            for chunk in chunks {
                if sender.blocking_send(chunk).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().spawn(work).ok().map(|_| receiver)
    }

    /// Returns the whole body, for short requests: without files, so that no read can fail.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.length());
        self.clone().chunks().flatten().for_each(|chunk| bytes.extend_from_slice(&chunk));
        bytes
    }

    /// Returns the body for a log, with the lengths of files instead of their content.
    pub fn log_text(&self) -> String {
        self.without_files(|text| BodyPart::Text(text.clone()))
    }

    /// Returns the body with every long text empty. Only messages have long texts, so all other fields are whole.
    pub fn outline(&self) -> String {
        self.without_files(|_| BodyPart::Json(Bytes::new()))
    }

    fn without_files(&self, text: impl Fn(&SharedText) -> BodyPart) -> String {
        let described = |part: &BodyPart| match part {
            BodyPart::Json(json) => BodyPart::Json(json.clone()),
            BodyPart::Text(long) => text(long),
            BodyPart::File(file) => BodyPart::Json(Bytes::from(format!("({} bytes)", file.len))),
        };
        let bytes = Payload::new(self.parts.iter().map(described).collect()).to_vec();
        // Bytes that are not UTF-8 are visible in a log, and their loss would not be.
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

enum BodyChunks {
    Json(Bytes),
    /// A text, and the offset of its unsent rest.
    Text(SharedText, usize),
    File(Base64Chunks),
}

impl BodyChunks {
    fn new(part: BodyPart) -> BodyChunks {
        match part {
            BodyPart::Json(json) => BodyChunks::Json(json),
            BodyPart::Text(text) => BodyChunks::Text(text, 0),
            BodyPart::File(file) => BodyChunks::File(file.encoded()),
        }
    }
}

impl Iterator for BodyChunks {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<io::Result<Bytes>> {
        match self {
            BodyChunks::Json(json) if json.is_empty() => None,
            BodyChunks::Json(json) => Some(Ok(std::mem::take(json))),
            BodyChunks::Text(text, at) => {
                let rest = text.get(*at..).filter(|rest| !rest.is_empty())?;
                let slice = rest.split_at(rest.floor_char_boundary(SLICE)).0;
                *at += slice.len();
                let string = serde_json::to_vec(slice).map(Bytes::from).map_err(io::Error::from);
                Some(string.map(|json| json.slice(1..json.len() - 1)))
            }
            BodyChunks::File(pieces) => pieces.next(),
        }
    }
}

fn escaped_length(text: &str) -> usize {
    let length = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 2,
        0x00..=0x1F => 6,
        _ => 1,
    };
    text.bytes().map(length).sum()
}
