//! Attached files in the store: what each offline command makes of the line and the blob.

use std::process::{Command, Stdio};

use crate::common::home::{Home, run};
use crate::common::screen::Screen;

/// A PNG of one pixel.
pub const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 13, b'I', b'D', b'A', b'T', 0x78, 0xda, 0x63, 0xfc,
    0xcf, 0xc0, 0x50, 0x0f, 0, 4, 0x85, 1, 0x80, 0x84, 0xa9, 0x8c, 0x21, 0, 0, 0, 0, b'I', b'E', b'N', b'D',
    0xae, 0x42, 0x60, 0x82,
];

/// SHA-256 by a program that is not lepo's.
pub fn sha256(bytes: &[u8]) -> String {
    use std::io::Write;
    let mut child = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let out = child.wait_with_output().unwrap().stdout;
    String::from_utf8(out[..64].to_vec()).unwrap()
}

/// The line of a PNG.
pub fn line(bytes: &[u8], name: &str) -> String {
    format!("[image/png {} bytes {name}: _blobs/{}]", bytes.len(), sha256(bytes))
}

/// A store with a question that has a file, and its answer. The blob's path.
fn with_file(home: &Home) -> String {
    home.ok(&["init"]);
    let blob = format!("work/.lepo/_blobs/{}", sha256(PNG));
    home.write(&blob, PNG);
    home.add(&[], &format!("what is this?\n\n{}", line(PNG, "chart.png")));
    home.add(&["--kind", "a"], "A chart.");
    blob
}

#[test]
fn fsck_finds_a_file_that_is_missing_or_wrong() {
    let home = Home::new();
    let blob = with_file(&home);
    home.ok(&["fsck"]);
    home.write(&blob, b"x");
    let ran = home.lepo(&["fsck"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("its bytes have the SHA-256"), "{}", ran.out);
    std::fs::remove_file(home.path().join(&blob)).unwrap();
    let ran = home.lepo(&["fsck"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("which is missing"), "{}", ran.out);
}

#[test]
fn a_changed_file_is_not_exported() {
    let home = Home::new();
    let blob = with_file(&home);
    let inline = |format: &str| home.ok(&["export", "--format", format]).contains("base64");
    for format in ["chatgpt", "openwebui", "messages"] {
        assert!(inline(format), "{format}");
    }
    // Another image in its place.
    home.write(&blob, [PNG, b" "].concat());
    for format in ["chatgpt", "openwebui", "pi", "messages"] {
        assert!(!inline(format), "{format}");
    }
    let ran = home.lepo(&["export", "-o", "out/"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("is missing or changed: chart.png is not exported"), "{}", ran.err);
    assert!(!home.ok(&["export", "--format", "html", "-o", "p.html"]).is_empty());
    assert!(!home.read("work/p.html").contains("data:image"));
}

#[test]
fn words_of_a_model_that_look_like_a_file_are_words() {
    let home = Home::new();
    for kind in ["a", "t", "s"] {
        home.add(&["--kind", kind], &format!("see\n{}", line(PNG, "chart.png")));
    }
    assert_eq!(home.ok(&["fsck"]), "");
    assert_eq!(home.ok(&["show", "--blobs"]), "");
}

#[test]
fn a_file_goes_with_the_last_question_that_has_it() {
    let home = Home::new();
    let blob = with_file(&home);
    home.add(&["--prev", "head"], &format!("again?\n\n{}", line(PNG, "other.png")));
    home.ok(&["rm", "-y", "@"]);
    assert!(home.path().join(&blob).exists());
    let listed = home.ok(&["rm", "-y", "@"]);
    assert!(listed.ends_with(&format!("{}\n", blob.strip_prefix("work/").unwrap())), "{listed}");
    assert!(!home.path().join(&blob).exists());
}

#[test]
fn listings_name_the_file() {
    let home = Home::new();
    let blob = with_file(&home);
    let line = line(PNG, "chart.png");
    assert!(home.ok(&["show"]).contains(&format!("what is this?\n\n{line}\n")));
    assert_eq!(home.ok(&["show", "--blobs"]), format!("{}\n", blob.strip_prefix("work/").unwrap()));
    // A conversation is told by its words.
    assert!(home.ok(&["ls"]).ends_with(": what is this?\n"), "{}", home.ok(&["ls"]));
    assert!(home.ok(&["export", "-o", "out/"]).contains("_what_is_th"), "{}", home.ok(&["ls"]));
    assert!(home.ok(&["log"]).contains(" u0 what is this?\n"), "{}", home.ok(&["log"]));
    let document: serde_json::Value = serde_json::from_str(&home.ok(&["show", "--json"])).unwrap();
    let file = &document["bubbs"][0]["attachments"][0];
    assert_eq!((file["type"].as_str(), file["name"].as_str()), (Some("image/png"), Some("chart.png")));
    let original = home.ok(&["resolve", "@^"]);
    let edited = home.program("sh", &["-c", "EDITOR='sed -i /_blobs/d' lepo edit @^"]).output().unwrap();
    assert!(edited.status.success(), "{}", String::from_utf8_lossy(&edited.stderr));
    let diff = home.lepo(&["diff", "--one", original.trim(), String::from_utf8_lossy(&edited.stdout).trim()]);
    assert!(diff.out.contains(&format!("-{line}")), "{}{}", diff.out, diff.err);
}

#[test]
fn an_excerpt_has_words_before_files() {
    for (words, told) in [("what is this?\n\n", "what is this?"), ("", "[image/png chart.png]")] {
        let home = Home::new();
        home.add(&[], &format!("{words}{}", line(PNG, "chart.png")));
        home.add(&["--kind", "a"], "A chart.");
        let mut command = home.command(&["--", "lepo", "show", ""]);
        command.env("LEPO_COMPLETE", "fish");
        let offered = run(command, b"").out;
        assert!(offered.contains(&told[..12]) && !offered.contains("_blobs"), "{offered}");
        let Some(screen) = Screen::lepo(&home, 100, &["browse"]) else { return };
        screen.shows(&format!(" {told}"));
        screen.keys(&["q"]);
    }
}

#[test]
fn an_export_has_the_files_beside_it() {
    let home = Home::new();
    with_file(&home);
    let mut folders = Vec::new();
    for _ in 0..2 {
        let path = home.ok(&["export", "-o", "out/"]);
        let text = home.read(&format!("work/{}", path.trim()));
        let link = text.lines().find(|line| line.starts_with("![chart.png](<")).expect(&text);
        let linked = link.split(['<', '>']).nth(1).unwrap().to_string();
        assert_eq!(std::fs::read(home.work().join("out").join(&linked)).unwrap(), PNG);
        folders.push(linked);
    }
    assert_ne!(folders[0], folders[1]);
    assert!(home.ok(&["export"]).contains(&line(PNG, "chart.png")));
}
