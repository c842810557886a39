//! Tests for the blocks of a file of lines: whatever their size, what one pass finds is found.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blocks::Blocks;
use super::values::Values;
use super::*;

/// The values, and the counts of what is none.
type Outcome = (Vec<String>, Vec<(String, u64)>);

fn text(value: Value<'_>) -> String {
    String::from_utf8_lossy(value.raw()).into_owned()
}

fn in_one_pass(bytes: &[u8]) -> Outcome {
    let (mut reading, mut found) = (Reading::default(), Vec::new());
    let mut values = Values::lines(bytes).at_most(LARGEST);
    while let Some(value) = reading.next(&mut values).unwrap() {
        found.push(text(value));
    }
    (found, reading.tally.skipped.into_iter().collect())
}

/// Bytes of a line, at most.
const LARGEST: usize = 60;

fn in_blocks<R: Read>(values: Values<R>, step: usize, threads: usize) -> Outcome {
    let (mut reading, mut found) = (Reading::default(), Vec::new());
    reading.threads = Some(threads);
    let take = |text, _: &mut Reading| {
        found.push(text);
        Ok(())
    };
    reading.each(&mut values.at_most(LARGEST).by(step), text, take).unwrap();
    (found, reading.tally.skipped.into_iter().collect())
}

fn file_of(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

fn opened(path: &Path) -> Values<Box<dyn Read>> {
    Reading::default().lines(path).unwrap()
}

#[test]
fn blocks_of_every_size_hold_what_one_pass_finds() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(40));
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(200));
    let mixed =
        format!("{{\"a\":1}}\n{long}\n\n[2]\r\n{large}\n{{}}{{\"b\":1}}\n\"한글\"\nnonsense\n{long}\n7");
    let crlf = mixed.replace('\n', "\r\n");
    for source in [
        "",
        "\n",
        "\n\r\n\n \n",
        "{}",
        "{}\n",
        "{}\n[1]\n",
        "\u{feff}{}\n[1]\n",
        "{}\n{\"a\":",
        "{\"a\n{}\n",
        &long,
        &large,
        &format!("{large}\n"),
        &format!("{large}\n{large}\n{{}}\n{large}"),
        &mixed,
        &format!("{mixed}\n"),
        &crlf,
        &format!("\u{feff}\r\n{crlf}\r\n\r\n"),
        // Lines as long as one may be, and one byte longer, which ends where a block does.
        &format!("\"{}\"\n\"{}\"\n\"{}\"\n1", "x".repeat(57), "x".repeat(58), "x".repeat(59)),
        &"[1]\n".repeat(100),
    ] {
        let (_dir, path) = file_of(source.as_bytes());
        let expected = in_one_pass(source.as_bytes());
        // Of each size from one byte on, the blocks end at every place of the file.
        for step in (1..=source.len() + 1).chain([1 << 20]) {
            for threads in [1, 2, 5] {
                assert_eq!(in_blocks(opened(&path), step, threads), expected, "{step} {threads}: {source}");
            }
        }
    }
}

#[test]
fn a_file_that_grows_is_read_as_it_was() {
    for (source, more, said, skipped) in [
        ("{}\n[1]\n", "[2]\n[3]\n", &["{}", "[1]"][..], 0),
        ("{}\n{\"a\":", "1}\n[2]\n", &["{}"], 1),
        ("{}\n[1]", "\n[2]\n", &["{}", "[1]"], 0),
    ] {
        for step in 1..12 {
            let (_dir, path) = file_of(source.as_bytes());
            let values = opened(&path);
            OpenOptions::new().append(true).open(&path).unwrap().write_all(more.as_bytes()).unwrap();
            let (found, counts) = in_blocks(values, step, 2);
            assert_eq!(found, said, "{step}: {source}");
            assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), skipped, "{counts:?}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_is_read_as_far_as_it_goes() {
    let whole = "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n".repeat(5);
    for left in 0..whole.len() {
        let (_dir, path) = file_of(whole.as_bytes());
        let expected = in_one_pass(&whole.as_bytes()[..left]);
        for step in [1, 3, 8, 13, 1000] {
            std::fs::write(&path, &whole).unwrap();
            let values = opened(&path);
            OpenOptions::new().write(true).open(&path).unwrap().set_len(left as u64).unwrap();
            assert_eq!(in_blocks(values, step, 2), expected, "{left} {step}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    for threads in [1, 2, 5] {
        let folder = Arc::new(File::open(dir.path()).unwrap());
        let values = Values::lines(std::io::empty()).in_blocks(Some(Blocks::new(folder, 1000)));
        let (found, counts) = in_blocks(values, 10, threads);
        assert!(found.is_empty());
        assert!(matches!(&counts[..], [(reason, 1)] if reason.starts_with("unreadable: ")), "{counts:?}");
    }
}

#[test]
fn a_pipe_is_no_file() {
    let (out, _into) = std::io::pipe().unwrap();
    let path = PathBuf::from(format!("/dev/fd/{}", out.as_raw_fd()));
    assert!(Reading::default().lines(&path).is_err());
}

#[test]
fn bytes_are_counted_once_they_are_read() {
    let source = "[1]\n".repeat(50);
    let (_dir, path) = file_of(source.as_bytes());
    for (step, threads) in [(7, 1), (7, 2), (1000, 2)] {
        let mut reading = Reading { threads: Some(threads), ..Reading::default() };
        let mut values = reading.lines(&path).unwrap().by(step);
        let mut last = 0;
        reading
            .each(
                &mut values,
                |_| (),
                |(), reading| {
                    last = reading.bytes.get();
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!((last, reading.bytes.get()), (200, 200));
    }
}
