//! The text of a recording: steps, what was shown, requests and the store, each part that came before only named.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::plain::Plain;
use super::stage::{Entry, Stage};
use crate::disk::{Bubb, bubbs};

/// Lines of so many bytes and more are named where they come again.
const LONG: usize = 100;

/// The parts of one scene.
#[derive(Default)]
pub struct Recording {
    text: String,
    known: HashSet<String>,
}

impl Recording {
    /// The whole of it.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Adds what went over a stage.
    pub fn add(&mut self, part: &Part) {
        let _ = writeln!(self.text, "######## {}", part.title);
        for (title, text) in &part.blocks {
            self.block(title, text);
        }
        self.text.push('\n');
    }

    /// A block of lines under its title; one that came before is only named.
    fn block(&mut self, title: &str, text: &str) {
        if text.is_empty() {
            let _ = writeln!(self.text, "{title}");
            return;
        }
        let is_short = text.lines().count() < 2 && text.len() < LONG;
        let mark = mark(text);
        if !is_short && self.known.contains(&mark) {
            let _ = writeln!(self.text, "{title}: as {mark} above");
            return;
        }
        let _ =
            if is_short { writeln!(self.text, "{title}:") } else { writeln!(self.text, "{title}: {mark}") };
        self.known.insert(mark);
        for line in text.split_inclusive('\n') {
            let (line, end) = match line.strip_suffix('\n') {
                Some(line) => (line, ""),
                None => (line, "\\"),
            };
            let line = line.replace('\r', "\\r");
            if line.len() < LONG {
                let _ = writeln!(self.text, "  |{line}{end}");
                continue;
            }
            let mark = self::mark(&line);
            let shown = if self.known.contains(&mark) { "" } else { line.as_str() };
            let _ = writeln!(self.text, "  [{mark}]{shown}{end}");
            self.known.insert(mark);
        }
    }
}

/// The beginning of a text's hash.
fn mark(text: &str) -> String {
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// The blocks of one run.
pub struct Part {
    title: String,
    blocks: Vec<(String, String)>,
}

impl Part {
    /// Reads what went over a stage, and the store that it left.
    pub fn read(title: &str, stage: &Stage) -> Part {
        let mut plain = Plain::new(stage.fixed());
        let folder = stage.home.work().join(".lepo");
        let messages = if folder.exists() { in_order(bubbs(&stage.home), &plain) } else { Vec::new() };
        for message in &messages {
            plain.letter(&message.id);
        }
        let (mut blocks, mut before) = (Vec::new(), String::new());
        for entry in &stage.entries {
            match entry {
                Entry::Step(step) => blocks.push((format!("$ {}", plain.text(step)), String::new())),
                Entry::Text(_, text) if text.is_empty() => {}
                Entry::Text(title, text) => {
                    let mut text = plain.text(text);
                    if stage.is_side_by_side
                        && let Some((before, rest)) = text.split_once("@ is now <")
                        && let Some((_, after)) = rest.split_once('>')
                    {
                        text = format!("{before}@ is now the newest{after}");
                    }
                    blocks.push((title.to_string(), text));
                }
                Entry::Request { line, headers, body } => {
                    let headers = headers.iter().map(|line| format!("{line}\n")).collect::<String>();
                    if headers != before {
                        blocks.push(("headers of requests from here".into(), plain.text(&headers)));
                        before = headers;
                    }
                    blocks
                        .push((format!("-> {}", plain.text(line)), without_deal(plain.text(&spread(body)))));
                }
            }
        }
        for message in &messages {
            let name = format!("{}-{}-{}", message.id, message.tag, message.prev);
            blocks.push((plain.text(&name), without_deal(plain.text(&message.text))));
        }
        let mut files = Vec::new();
        files_below(&folder, &folder, &mut files);
        for (name, bytes) in files {
            let is_message = !name.starts_with(['_', '.']);
            let is_fixed = [".gitignore", ".gitattributes", "_insts.toml"].contains(&name.as_str());
            if is_message || is_fixed || name.starts_with("_tmp/claim-") {
                continue;
            }
            let text = match String::from_utf8(bytes) {
                Ok(text) if name.ends_with(".ndjson") => journal(&text),
                Ok(text) => text,
                Err(error) => format!("{} bytes", error.as_bytes().len()),
            };
            let mut text = plain.text(&text);
            if stage.is_side_by_side && name.ends_with(".ndjson") {
                text = sorted(&text);
            }
            blocks.push((plain.text(&name), text));
        }
        Part { title: title.to_string(), blocks }
    }
}

/// The text of a verdict with the ids of its two answers in order: which of them has the letter A is chance.
fn without_deal(text: String) -> String {
    for end in ["\n", "\\n"] {
        let Some((before, rest)) = text.split_once(&format!("JUDGE: j{end}A: ")) else { continue };
        let Some((a, rest)) = rest.split_once(&format!("{end}B: ")) else { continue };
        let Some((b, after)) = rest.split_once('>') else { continue };
        let b = format!("{b}>");
        let (first, last) = if a < b.as_str() { (a, b.as_str()) } else { (b.as_str(), a) };
        return format!("{before}JUDGE: j{end}A: {first}{end}B: {last}{after}");
    }
    text
}

/// The lines in the order of their texts.
fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The lines of a journal that tell of answers and copies; a proof has nothing but its time and its hash. The check of a
/// budget is last, because it is made while messages are written.
fn journal(text: &str) -> String {
    let (mut lines, mut checks): (Vec<String>, Vec<String>) = Default::default();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        match value["what"].as_str() {
            Some("proven") => {}
            Some("budget") => checks.push(line.to_string() + "\n"),
            _ => lines.push(line.to_string() + "\n"),
        }
    }
    lines.concat() + &checks.concat()
}

/// The messages as a tree, those of one parent in the order of their texts: names of one millisecond have no order.
fn in_order(all: Vec<Bubb>, plain: &Plain) -> Vec<Bubb> {
    let key = |bubb: &Bubb| (bubb.tag.clone(), plain.nameless(&bubb.text), below(&all, bubb, plain));
    let mut found = Vec::new();
    let mut open = vec!["head".to_string()];
    while let Some(parent) = open.pop() {
        let mut children: Vec<&Bubb> = all.iter().filter(|bubb| bubb.prev == parent).collect();
        children.sort_by_key(|bubb| key(bubb));
        found.extend(all.iter().filter(|bubb| bubb.id == parent).cloned());
        open.extend(children.iter().rev().map(|bubb| bubb.id.clone()));
    }
    assert_eq!(found.len(), all.len(), "a message hangs nowhere");
    found
}

/// What hangs below a message, as a text: of two equal messages it tells which comes first.
fn below(all: &[Bubb], of: &Bubb, plain: &Plain) -> String {
    let mut found = String::new();
    let mut open = vec![&of.id];
    while let Some(parent) = open.pop() {
        for child in all.iter().filter(|bubb| bubb.prev == *parent) {
            found += &format!("{} {}\n", child.tag, plain.nameless(&child.text));
            open.push(&child.id);
        }
    }
    found
}

/// The files below a folder, in the order of their names.
fn files_below(folder: &Path, root: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files_below(&path, root, found);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

/// A JSON text with a line for each field, and for each element of a field that is a list: no byte is lost but line breaks.
fn spread(body: &str) -> String {
    if !body.starts_with('{') {
        return body.to_string();
    }
    let (mut out, mut depth, mut in_text, mut escaped) = (String::new(), 0, false, false);
    for c in body.chars() {
        if in_text {
            in_text = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            out.push(c);
            continue;
        }
        match c {
            '{' | '[' => {
                depth += 1;
                out.push(c);
                if depth <= 2 {
                    out.push('\n');
                }
            }
            '}' | ']' => {
                if depth <= 2 {
                    out.push('\n');
                }
                depth -= 1;
                out.push(c);
            }
            ',' if depth <= 2 => out += ",\n",
            c => {
                in_text = c == '"';
                out.push(c);
            }
        }
    }
    out + "\n"
}

#[test]
fn a_body_has_a_line_for_each_message_and_keeps_its_bytes() {
    let body = r#"{"model":"m","messages":[{"a":["x",1]},{"b":"[{\",\"}]"}],"n":{}}"#;
    let spread = spread(body);
    assert_eq!(spread.replace('\n', ""), body);
    assert!(spread.contains("\n{\"a\":[\"x\",1]},\n{\"b\":\"[{\\\",\\\"}]\"}\n],"), "{spread}");
}

#[test]
fn the_letters_of_a_verdict_are_in_order() {
    for (text, expected) in [
        ("JUDGE: j\nA: <j>\nB: <h>", "JUDGE: j\nA: <h>\nB: <j>"),
        (r#"x":"JUDGE: j\nA: <j>\nB: <h>"},"#, r#"x":"JUDGE: j\nA: <h>\nB: <j>"},"#),
        ("JUDGE: j\nA: <h>\nB: <j>", "JUDGE: j\nA: <h>\nB: <j>"),
        ("JUDGE: j", "JUDGE: j"),
    ] {
        assert_eq!(without_deal(text.to_string()), expected);
    }
}

#[test]
fn a_part_that_came_before_is_only_named() {
    let blocks = vec![
        ("one".to_string(), "a\nb\n".to_string()),
        ("two".to_string(), "a\nb\n".to_string()),
        ("three".to_string(), format!("{0}\n{0}", "x".repeat(LONG))),
        ("four".to_string(), "a".to_string()),
    ];
    let mut recording = Recording::default();
    recording.add(&Part { title: "title".into(), blocks });
    let text = recording.into_text();
    let (ab, x) = (mark("a\nb\n"), mark(&"x".repeat(LONG)));
    let whole = mark(&format!("{0}\n{0}", "x".repeat(LONG)));
    let expected = format!(
        "######## title\none: {ab}\n  |a\n  |b\ntwo: as {ab} above\nthree: {whole}\n  [{x}]{}\n  [{x}]\\\nfour:\n  |a\\\n\n",
        "x".repeat(LONG)
    );
    assert_eq!(text, expected);
}
