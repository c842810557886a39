//! The test vectors of docs/format.md: a store each, and what a reader has to find in it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::home::Home;

/// One vector, laid out as `work/.lepo` of a home of its own.
pub struct Vector {
    pub name: String,
    pub home: Home,
    pub expected: Value,
}

/// Runs a test on every vector.
pub fn each_vector(test: impl Fn(&Vector) + Sync) {
    let vectors = vectors();
    std::thread::scope(|scope| {
        for part in vectors.chunks(vectors.len().div_ceil(2)) {
            let test = &test;
            scope.spawn(move || part.iter().for_each(test));
        }
    });
}

/// All vectors, laid out. One that this filesystem cannot hold is skipped, which is said.
pub fn vectors() -> Vec<Vector> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut dirs: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    dirs.retain(|dir| dir.join("expected.json").is_file());
    dirs.sort();
    assert!(dirs.len() >= 40, "{} vectors", dirs.len());
    dirs.iter().filter_map(|dir| lay_out(dir)).collect()
}

fn lay_out(dir: &Path) -> Option<Vector> {
    let name = dir.file_name().unwrap().to_str().unwrap().to_string();
    let expected: Value = serde_json::from_slice(&std::fs::read(dir.join("expected.json")).unwrap()).unwrap();
    let home = Home::new();
    let store = home.work().join(".lepo");
    assert!(Command::new("cp").arg("-r").arg(dir.join("store")).arg(&store).status().unwrap().success());
    for made in expected["make"].as_array().into_iter().flatten() {
        if !make(&store, made) {
            super::skip::skipped("filesystem", format!("{name}: this filesystem cannot hold {made}"));
            return None;
        }
    }
    Some(Vector { name, home, expected })
}

/// Makes what git cannot keep; false if the filesystem cannot either.
fn make(store: &Path, made: &Value) -> bool {
    let text = |key: &str| made[key].as_str();
    if let Some(dir) = text("dir") {
        return std::fs::create_dir(store.join(dir)).is_ok();
    }
    if let Some(fifo) = text("fifo") {
        return Command::new("mkfifo").arg(store.join(fifo)).status().unwrap().success();
    }
    if let (Some(link), Some(to)) = (text("link"), text("to")) {
        return std::os::unix::fs::symlink(to, store.join(link)).is_ok();
    }
    let hex = |hex: &str| {
        let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
        OsString::from_vec(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
    };
    let name = text("file").map(OsString::from).or_else(|| text("file-hex").map(hex)).unwrap();
    let path = store.join(name);
    // A filesystem that does not tell cases apart has it already.
    std::fs::symlink_metadata(&path).is_err() && std::fs::write(path, text("text").unwrap()).is_ok()
}

impl Vector {
    /// The ids in the list of this key.
    pub fn ids(&self, key: &str) -> Vec<&str> {
        self.expected[key].as_array().into_iter().flatten().map(|id| id.as_str().unwrap()).collect()
    }

    /// The value that is expected of each id under this key; none where the vector is about something else.
    pub fn by_id(&self, key: &str) -> impl Iterator<Item = (&str, &Value)> {
        self.expected[key].as_object().into_iter().flatten().map(|(id, value)| (id.as_str(), value))
    }

    /// The tails as a list prints them: `ID (HEIGHT)`, with the other person's name before it.
    pub fn listed(&self) -> Vec<String> {
        let line = |tail: &Value| {
            let from = tail["from"].as_str().map(|from| format!("{from}/")).unwrap_or_default();
            format!("{from}{} ({})", tail["id"].as_str().unwrap(), tail["height"])
        };
        self.expected["tails"].as_array().unwrap().iter().map(line).collect()
    }

    /// Findings of a checker, as `WHAT NAME`, sorted.
    pub fn findings(&self) -> Vec<String> {
        let line = |found: &Value| {
            format!("{} {}", found["what"].as_str().unwrap(), found["name"].as_str().unwrap())
        };
        let mut lines: Vec<String> = self.expected["findings"].as_array().unwrap().iter().map(line).collect();
        lines.sort();
        lines
    }
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
