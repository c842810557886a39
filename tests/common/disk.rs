//! The content of a store, read without lepo: names, links and texts, and each id computed anew as the
//! store's manual says. It shares no code with what it checks.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::home::Home;

/// One bubb, as its file tells it.
#[derive(Debug, Clone)]
pub struct Bubb {
    pub id: String,
    /// `u0`: kind and hidden.
    pub tag: String,
    /// An id, or `head`.
    pub prev: String,
    pub text: String,
}

/// All bubbs of `work/.lepo`, oldest first, each checked.
pub fn bubbs(home: &Home) -> Vec<Bubb> {
    bubbs_in(&home.work().join(".lepo"))
}

/// All bubbs of a store, oldest first, each checked: its id is its hash, and later than its prev's.
pub fn bubbs_in(store: &Path) -> Vec<Bubb> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(store).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with(['_', '.']) {
            continue;
        }
        let parts: Vec<&str> = name.strip_suffix(".md").unwrap().split('-').collect();
        let [id, tag, prev] = parts[..] else { panic!("{name} is no bubb's name") };
        let bytes = std::fs::read(entry.path()).unwrap();
        assert_eq!(expected_id(id, tag, prev, &bytes), id, "{name} does not hold what its id says");
        assert!(prev == "head" || time(prev) < time(id), "{name} is not after its prev");
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        found.push(Bubb {
            id: id.into(),
            tag: tag.into(),
            prev: prev.into(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        });
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found
}

/// The forest in one line, oldest first: `A s1 head / B u0 A / C a0 B`.
pub fn forest(home: &Home) -> String {
    forest_of(&bubbs(home))
}

/// The forest of these bubbs in one line.
pub fn forest_of(bubbs: &[Bubb]) -> String {
    let letter = |id: &str| match bubbs.iter().position(|bubb| bubb.id == id) {
        Some(i) => char::from(b'A' + i as u8).to_string(),
        None => id.to_string(),
    };
    let line = |bubb: &Bubb| format!("{} {} {}", letter(&bubb.id), bubb.tag, letter(&bubb.prev));
    bubbs.iter().map(line).collect::<Vec<_>>().join(" / ")
}

/// Files left in `_tmp`: none, unless a writer was killed.
pub fn spools(home: &Home) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(home.work().join(".lepo/_tmp")) else { return Vec::new() };
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.unwrap();
        // One may be gone by now: its answer is complete.
        let text = String::from_utf8_lossy(&std::fs::read(entry.path()).ok()?).into_owned();
        Some((entry.file_name().into_string().unwrap(), text))
    };
    // A claim says who is at work; nothing is written into it.
    entries.filter_map(read).filter(|(name, _)| !name.starts_with("claim-")).collect()
}

/// The journal's lines, each of which must be JSON; without those that hold no fact but a proof.
pub fn journal(home: &Home) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(home.work().join(".lepo/_journal.ndjson")).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is torn");
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter(|line| line["what"] != "proven").collect()
}

/// Writes a bubb of a time (milliseconds since 1970) into `work/.lepo`; its id.
pub fn put(home: &Home, time: u64, tag: &str, prev: &str, text: &str) -> String {
    put_into(&home.work().join(".lepo"), time, tag, prev, text)
}

/// The same in the folder of its day, as `lepo tidy` leaves what is old.
pub fn put_old(home: &Home, time: u64, tag: &str, prev: &str, text: &str) -> String {
    let day = jiff::Timestamp::from_millisecond(time as i64).unwrap().strftime("%Y-%m/%d").to_string();
    let folder = home.work().join(".lepo/_old").join(day);
    std::fs::create_dir_all(&folder).unwrap();
    put_into(&folder, time, tag, prev, text)
}

/// A conversation of these texts, a question and an answer in turn from this time on, a second each; their ids.
pub fn put_all<T: AsRef<str>>(home: &Home, first: u64, texts: impl IntoIterator<Item = T>) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for (text, tag) in texts.into_iter().zip(["u0", "a0"].into_iter().cycle()) {
        let prev = ids.last().map_or("head", String::as_str);
        ids.push(put(home, first + 1000 * ids.len() as u64, tag, prev, text.as_ref()));
    }
    ids
}

fn put_into(folder: &Path, time: u64, tag: &str, prev: &str, text: &str) -> String {
    let begun = u128::from(time) << 80;
    let begun: String =
        (0..26).rev().map(|place| char::from(DIGITS[(begun >> (5 * place) & 31) as usize])).collect();
    let id = expected_id(&begun, tag, prev, text.as_bytes());
    let path = folder.join(format!("{id}-{tag}-{prev}.md"));
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    id
}

const DIGITS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn expected_id(id: &str, tag: &str, prev: &str, content: &[u8]) -> String {
    let time = &number(id).to_be_bytes()[..6];
    let mut hashed = b"lepo\0".to_vec();
    hashed.extend(time);
    hashed.extend(tag.bytes());
    hashed.extend(if prev == "head" { [0; 16] } else { number(prev).to_be_bytes() });
    hashed.extend(Sha256::digest(content));
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(time);
    bytes[6..].copy_from_slice(&Sha256::digest(&hashed)[..10]);
    let number = u128::from_be_bytes(bytes);
    (0..26).rev().map(|place| char::from(DIGITS[(number >> (5 * place) & 31) as usize])).collect()
}

fn number(id: &str) -> u128 {
    assert_eq!(id.len(), 26, "{id}");
    id.bytes().fold(0, |number, byte| {
        let digit = DIGITS.iter().position(|digit| *digit == byte).unwrap();
        number << 5 | digit as u128
    })
}

pub fn time(id: &str) -> u128 {
    number(id) >> 80
}
