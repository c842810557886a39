//! `lepo import`: twice, in any order, grown, torn, hostile, killed, on a full disk.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::disk::{bubbs, journal, spools};
use crate::home::{Home, run};
use crate::secrets::github_token;

fn sample(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/interop").join(file)
}

fn text(file: &str) -> String {
    std::fs::read_to_string(sample(file)).unwrap()
}

fn import(home: &Home, args: &[&str]) -> String {
    home.ok(&[&["import"], args].concat())
}

/// Samples of every format, each in a file of a name that tells nothing.
const SAMPLES: &[&str] = &[
    "claude-code.jsonl",
    "chatgpt-conversations-000.json",
    "claude-ai-conversations.json",
    "codex-rollout-2026-08-01T10-00-00-01a0ae76-2436-7590-9a11-000000000001.jsonl",
    "gemini-session-2026-08-01T10-00-1234abcd.jsonl",
    "humble-20251016_120000_hi.json",
    "jan-messages.jsonl",
    "librechat.json",
    "llama-ui.jsonl",
    "lm-studio-1785578400123.conversation.json",
    "open-webui.json",
    "openai-messages.jsonl",
    "pi-2026-08-01T10-00-00-000Z_uuid.jsonl",
    "sharegpt.json",
];

#[test]
fn every_sample_twice_and_in_any_order_gives_one_sound_store() {
    let (one, other) = (Home::new(), Home::new());
    for file in SAMPLES {
        let path = sample(file);
        let path = path.to_str().unwrap();
        let first: Value = serde_json::from_str(&import(&one, &["--json", path])).unwrap();
        assert_eq!(first["sources"][0]["path"], path);
        assert!(first["made"].as_u64().unwrap() > 0, "{first}");
        let count = journal(&one).len();
        let again: Value = serde_json::from_str(&import(&one, &["--json", path])).unwrap();
        let all = first["made"].as_u64().unwrap() + first["here"].as_u64().unwrap();
        assert_eq!((&again["made"], &again["here"]), (&0.into(), &all.into()), "{file}");
        assert_eq!(again["read"], first["read"]);
        assert_eq!(again["at"], first["at"]);
        assert_eq!(journal(&one).len(), count, "{file}: the journal grows");
    }
    for file in SAMPLES.iter().rev() {
        import(&other, &[sample(file).to_str().unwrap()]);
    }
    assert_eq!(one.bubbs(), other.bubbs());
    assert_eq!(one.ok(&["fsck"]), "");
    assert_eq!(one.ok(&["ls", "--pending"]), "");
    assert!(spools(&one).is_empty());
    let all: Value = serde_json::from_str(&one.ok(&["ls", "--json"])).unwrap();
    assert!(all["tails"].as_array().unwrap().len() >= SAMPLES.len(), "{all}");
}

/// Imports a source, replaces the words of its oldest visible message, and imports it again.
fn redacted_stays_redacted(what: &str, source: &str) {
    let home = Home::new();
    import(&home, &[source]);
    let log = home.ok(&["log", "--all", "--json"]);
    let visible = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let visible: Vec<String> = visible.filter_map(|line| line["id"].as_str().map(str::to_string)).collect();
    let root = visible.last().unwrap_or_else(|| panic!("{what}: {log}"));
    home.write("work/other", format!("taken out of {what}"));
    home.ok(&["rm", "-y", "--redact", "--replace", &format!("{root}=other")]);
    let (before, told) = (home.bubbs(), home.ok(&["ls"]));
    assert!(!before.iter().any(|name| name.starts_with(root.as_str())), "{what}");
    for args in [&["--json", source][..], &["-n", "--json", source]] {
        let again: Value = serde_json::from_str(&import(&home, args)).unwrap();
        assert_eq!(again["made"], 0, "{what}: {again}");
    }
    assert_eq!((home.bubbs(), home.ok(&["ls"])), (before, told), "{what}");
    assert_eq!(home.ok(&["fsck"]), "", "{what}");
}

#[test]
fn what_was_redacted_is_not_brought_back_by_any_format() {
    for file in SAMPLES {
        redacted_stays_redacted(file, sample(file).to_str().unwrap());
    }
    // Another store of lepo, whose ids are the same.
    let other = Home::new();
    import(&other, &[sample(SAMPLES[0]).to_str().unwrap()]);
    redacted_stays_redacted("a store", other.work().to_str().unwrap());
}

#[test]
fn what_came_since_follows_what_was_redacted() {
    let home = Home::new();
    let line = |role: &str, text: &str| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}");
    let write = |texts: &[(&str, &str)]| {
        let lines: Vec<String> = texts.iter().map(|(role, text)| line(role, text)).collect();
        home.write("work/log.jsonl", format!("{{\"messages\":[{}]}}\n", lines.join(",")));
    };
    let first = [("user", "my code is 4711"), ("assistant", "noted")];
    write(&first);
    import(&home, &["messages", "log.jsonl"]);
    let root = home.ok(&["resolve", "@^"]);
    home.write("work/other", "my code is gone");
    home.ok(&["rm", "-y", "--redact", "--replace", &format!("{}=other", root.trim())]);
    write(&[&first[..], &[("user", "and now?")]].concat());
    for made in [1, 0] {
        let document: Value =
            serde_json::from_str(&import(&home, &["--json", "messages", "log.jsonl"])).unwrap();
        assert_eq!(document["made"], made, "{document}");
        let shown = home.ok(&["show", "@"]);
        assert!(
            shown.contains("my code is gone") && shown.contains("noted") && shown.contains("and now?"),
            "{shown}"
        );
        assert_eq!(home.bubbs().len(), 3, "{:?}", home.bubbs());
    }
    assert_eq!(home.ok(&["fsck"]), "");
    assert_eq!(home.lepo(&["grep", "4711"]).code, 1);
    // No id of what was taken out is kept, with which others could try words.
    let journal = home.read("work/.lepo/_journal.ndjson");
    assert!(journal.contains("redacted") && !journal.contains(root.trim()), "{journal}");
}

#[test]
fn what_is_read_made_here_and_skipped_is_told() {
    let home = Home::new();
    let path = sample("chatgpt-conversations-000.json");
    let path = path.to_str().unwrap();
    let ran = home.lepo(&["import", "-n", path]);
    assert!(
        ran.out.starts_with("read 1 conversation with 8 messages (chatgpt)\nwould make 7 messages; 0 here"),
        "{}",
        ran.out
    );
    assert!(!home.work().join(".lepo").exists());
    let ran = home.lepo(&["import", "chatgpt", path]);
    assert!(ran.out.contains("\nmade 7 messages; 0 here already\n"), "{}", ran.out);
    assert!(ran.out.contains("skipped 1: conversation without messages\n"), "{}", ran.out);
    assert!(ran.out.contains("\n@ is now "), "{}", ran.out);
    assert!(ran.err.contains("1 file not in the source"), "{}", ran.err);
    let ran = home.lepo(&["import", "--strict", path]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.out.contains("made 0 messages; 7 here already") && !ran.out.contains("@ is now"),
        "{}",
        ran.out
    );
    let ran = home.lepo(&["import", "pi", path]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("has the format chatgpt, not pi"), "{}", ran.err);
    let ran = home.lepo(&["import", "nonsense"]);
    assert!(ran.code == 2 && ran.err.contains("formats: claude-code, codex"), "{}", ran.err);
    home.write("work/x.txt", "hello");
    assert_eq!(home.lepo(&["import", "x.txt"]).code, 2);
}

#[test]
fn titles_models_and_tokens_are_known_and_labels_are_branches_if_asked_for() {
    let home = Home::new();
    import(&home, &[sample("claude-code.jsonl").to_str().unwrap()]);
    assert_eq!(home.ok(&["branch"]), "");
    let tails: Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    assert!(tails["tails"][0].to_string().contains("Read two files"), "{tails}");
    let shown: Value = serde_json::from_str(&home.ok(&["show", "--json", "@~2"])).unwrap();
    let last = shown["bubbs"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["model"], &last["usage"]["input"]), (&"claude-opus-4-8".into(), &109.into()), "{last}");
    import(&home, &["--branches", sample("claude-code.jsonl").to_str().unwrap()]);
    import(&home, &["--branches", sample("pi-2026-08-01T10-00-00-000Z_uuid.jsonl").to_str().unwrap()]);
    let branches = home.ok(&["branch"]);
    assert!(branches.contains("Read-two-files") && branches.contains("start"), "{branches}");
}

#[test]
fn the_choice_of_tools_is_kept_and_another_one_is_refused() {
    let home = Home::new();
    let long = "x".repeat(70_000);
    let log = text("claude-code.jsonl").replace("\"content\":\"A\"", &format!("\"content\":\"{long}\""));
    home.write("work/s.jsonl", &log);
    import(&home, &["s.jsonl"]);
    let result = |home: &Home| {
        let bubbs = crate::disk::bubbs(home);
        bubbs
            .into_iter()
            .filter(|bubb| bubb.tag == "t1" && bubb.text.starts_with('x'))
            .map(|bubb| bubb.text)
            .collect::<Vec<_>>()
    };
    let brief = format!("{}\n[65904 bytes left out]\n{}", "x".repeat(2048), "x".repeat(2048));
    assert_eq!(result(&home), [brief.as_str()]);
    let ran = home.lepo(&["import", "--tools", "full", "s.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--tools brief") && ran.err.contains("--again"), "{}", ran.err);
    import(&home, &["--tools", "full", "--again", "s.jsonl"]);
    let results = result(&home);
    assert_eq!(results.len(), 2);
    assert!(results.iter().any(|text| text.contains("\n[70,000 bytes: _blobs/")), "{results:?}");
    assert_eq!(home.ok(&["fsck"]), "");
    // The last choice is used again.
    let again: Value = serde_json::from_str(&import(&home, &["--json", "s.jsonl"])).unwrap();
    assert_eq!(again["made"], 0);
    let none = Home::new();
    none.write("work/s.jsonl", &log);
    import(&none, &["--tools", "none", "s.jsonl"]);
    assert!(crate::disk::bubbs(&none).iter().all(|bubb| bubb.tag != "t1"));
}

#[test]
fn a_growing_log_adds_only_what_is_new() {
    let home = Home::new();
    // A log of this hour: what is last is held back.
    let now = jiff::Timestamp::now();
    let line = |n: i64, role: &str, text: &str| {
        let time = now + jiff::SignedDuration::from_secs(n - 100);
        let parent = if n == 0 { "null".to_string() } else { format!("\"m{}\"", n - 1) };
        format!(
            "{{\"type\":\"message\",\"id\":\"m{n}\",\"parentId\":{parent},\"timestamp\":\"{time:.3}\",\"message\":{{\"role\":\"{role}\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let head = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/\"}\n".to_string();
    let lines = [line(0, "user", "one"), line(1, "assistant", "two"), line(2, "user", "three")];
    let mut log = head;
    let mut made = Vec::new();
    for line in lines {
        log += &line;
        home.write("work/s.jsonl", &log);
        let json: Value = serde_json::from_str(&import(&home, &["--json", "s.jsonl"])).unwrap();
        made.push((
            json["made"].as_u64().unwrap(),
            json["here"].as_u64().unwrap(),
            json["held"].as_u64().unwrap(),
        ));
    }
    assert_eq!(made, [(0, 0, 1), (1, 0, 1), (1, 1, 1)]);
    // Torn in its last line it says so, and nothing moves.
    home.write("work/s.jsonl", &log[..log.len() - 9]);
    let ran = home.lepo(&["import", "s.jsonl"]);
    assert!(ran.out.contains("skipped 1: torn"), "{}", ran.out);
    assert_eq!(home.bubbs().len(), 2);
}

#[test]
fn this_repositorys_sessions_are_taken_and_others_with_all() {
    let home = Home::new();
    let work = home.work().canonicalize().unwrap();
    let own = text("claude-code.jsonl").replace("/w/demo", work.to_str().unwrap());
    home.write(".claude/projects/-w/5e55.jsonl", &own);
    home.write(
        ".claude/projects/-other/0000.jsonl",
        text("claude-code.jsonl").replace("read a and b", "elsewhere"),
    );
    home.write(
        ".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-01a0ae76-2436-7590-9a11-000000000001.jsonl",
        text(SAMPLES[3]),
    );
    let listed = home.ok(&["import"]);
    assert!(
        listed.contains("claude-code  Claude Code       2 sessions")
            && listed.contains("codex        Codex             1 session "),
        "{listed}"
    );
    assert!(!home.work().join(".lepo").exists());
    let ran = home.lepo(&["import", "codex"]);
    assert!(ran.code == 1 && ran.err.contains("`lepo import codex --all` takes all 1"), "{}", ran.err);
    assert!(import(&home, &["claude-code"]).starts_with("read 1 conversation with 12 messages"));
    assert!(import(&home, &["claude-code", "--all"]).starts_with("read 2 conversations"));
    assert!(home.ok(&["show", "-a"]).len() > 10);
    assert_eq!(home.lepo(&["import", "gemini-cli"]).code, 1);
    let since: Value =
        serde_json::from_str(&import(&home, &["claude-code", "--all", "--since", "2026-09-01", "--json"]))
            .unwrap();
    assert_eq!(since["read"]["conversations"], 0);
}

#[test]
fn a_zip_brings_its_images_and_a_hostile_one_is_refused() {
    let home = Home::new();
    let zip = |entries: &[(&str, &[u8])]| {
        let mut to = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        for (name, bytes) in entries {
            to.start_file(*name, options).unwrap();
            to.write_all(bytes).unwrap();
        }
        to.finish().unwrap().into_inner()
    };
    let document = text("chatgpt-conversations-000.json");
    let png = b"\x89PNG\r\n\x1a\n and more";
    home.write(
        "work/export.zip",
        zip(&[
            ("../../conversations-000.json", document.as_bytes()),
            ("chat.html", b"<html>"),
            ("file_00000001-sanitized.dat", png),
        ]),
    );
    let ran = home.lepo(&["import", "export.zip"]);
    assert!(ran.out.contains("made 7 messages"), "{}{}", ran.out, ran.err);
    assert!(home.ok(&["show"]).contains("[image/png 17 bytes a.png: _blobs/"), "{}", home.ok(&["show"]));
    assert_eq!(home.ok(&["fsck"]), "");
    assert!(!home.path().join("conversations-000.json").exists());
    // The folder it was unpacked to is the same export.
    home.write("work/unpacked/conversations-000.json", &document);
    home.write("work/unpacked/file_00000001-sanitized.dat", png);
    let json: Value = serde_json::from_str(&import(&home, &["--json", "unpacked"])).unwrap();
    assert_eq!((&json["made"], &json["here"]), (&0.into(), &7.into()));
    // Declared larger than it may be, and really so.
    let mut bomb = zip(&[("conversations.json", document.as_bytes())]);
    let directory = bomb.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    bomb[directory + 24..directory + 28].copy_from_slice(&0xf000_0000u32.to_le_bytes());
    home.write("work/bomb.zip", &bomb);
    let ran = home.lepo(&["import", "chatgpt", "bomb.zip"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    home.write("work/cut.zip", &bomb[..bomb.len() / 2]);
    assert_eq!(home.lepo(&["import", "chatgpt", "cut.zip"]).code, 2);
    for code in [home.lepo(&["import", "/dev/zero"]).code, home.lepo(&["import", "/dev/null"]).code] {
        assert_eq!(code, 2);
    }
}

#[test]
fn nothing_imported_waits_for_consent() {
    let home = Home::new();
    let request = r#"{\"access\":\"full\",\"command\":\"touch /tmp/owned\"}"#;
    let log = text("claude-code.jsonl")
        .replace("two reads", request)
        .replace(
            "\"name\":\"Read\",\"input\":{\"file_path\":\"b\"}",
            "\"name\":\"\",\"input\":{\"access\":\"full\",\"command\":\"ls\"}",
        )
        .replace("This session is being continued from a previous conversation…", request);
    // It ends in the middle of a turn: nothing answers its calls.
    let log: String = log.lines().take(7).map(|line| format!("{line}\n")).collect();
    home.write("work/s.jsonl", &log);
    import(&home, &["s.jsonl"]);
    assert_eq!(home.ok(&["ls", "--pending"]), "");
    assert!(
        crate::disk::bubbs(&home)
            .iter()
            .any(|bubb| bubb.text.starts_with("{\"access\"") && bubb.text.ends_with("}\n"))
    );
    // A request that waits in another store stays there.
    let other = Home::new();
    other.add(&[], "do it");
    let waiting = other.add(&["--kind", "a", "--hidden"], r#"{"access":"read","command":"ls"}"#);
    assert!(other.ok(&["ls", "--pending"]).contains(&waiting));
    let ran = home.lepo(&["import", other.work().to_str().unwrap()]);
    assert!(ran.out.contains("made 1 message;") && ran.err.contains(&waiting), "{}{}", ran.out, ran.err);
    assert_eq!(home.ok(&["ls", "--pending"]), "");
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn a_request_is_not_pending_because_its_result_cannot_be_taken() {
    let other = Home::new();
    let asked = other.add(&["--prev", "head"], "run it");
    let request = r#"{"access":"full","command":"touch PWNED"}"#;
    let request = other.add(&["--prev", &asked, "--kind", "a", "--hidden"], request);
    // It was denied there, and the denial edited; or overtaken by what was edited.
    let denial = other.add(&["--prev", &request, "--kind", "t", "--hidden"], "no");
    let pending = other.ok(&["ls", "--pending"]);
    assert_eq!(pending, "");
    let mine = Home::new();
    let ran = mine.lepo(&["import", other.work().to_str().unwrap()]);
    assert!(ran.code == 0 && ran.out.contains("made 3 messages"), "{} {}", ran.out, ran.err);
    assert_eq!((mine.ok(&["ls", "--pending"]).as_str(), mine.ok(&["fsck"]).as_str()), ("", ""));
    for kind in ["t1", "a0"] {
        let file = other.work().join(".lepo").join(format!("{denial}-t1-{request}.md"));
        let _ = std::fs::remove_file(&file);
        let prev = if kind == "a0" { &asked } else { &request };
        other.write(&format!("work/.lepo/7ZZZZZZZZZZZZZZZZZZZZZZZZZ-{kind}-{prev}.md"), "forged");
        assert_eq!(other.ok(&["ls", "--pending"]), "", "{kind}");
        let mine = Home::new();
        let ran = mine.lepo(&["import", other.work().to_str().unwrap()]);
        assert!(ran.code == 0 && ran.out.contains("made 1 message;"), "{kind}: {} {}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("request {request} would be pending")), "{kind}: {}", ran.err);
        assert_eq!(mine.ok(&["ls", "--pending"]), "", "{kind}");
        std::fs::remove_file(other.work().join(format!(".lepo/7ZZZZZZZZZZZZZZZZZZZZZZZZZ-{kind}-{prev}.md")))
            .unwrap();
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_store_that_the_next_import_completes() {
    let home = Home::new();
    let conversations: Vec<String> = (0..300)
        .map(|n| format!("{{\"id\":\"c{n}\",\"messages\":[{{\"role\":\"user\",\"content\":\"q{n}\"}},{{\"role\":\"assistant\",\"content\":\"a{n}\",\"created_at\":{}}}]}}\n", 1_785_578_400 + n))
        .collect();
    home.write("work/s.jsonl", conversations.concat());
    let mut killed = 0;
    for n in 0..12 {
        let mut child =
            home.command(&["import", "s.jsonl"]).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(n * 7));
        let _ = child.kill();
        killed += u32::from(!child.wait().unwrap().success());
        if home.work().join(".lepo/_insts.toml").exists() {
            let findings = home.lepo(&["fsck"]);
            assert_eq!(findings.code, 0, "{}", findings.out);
        }
    }
    let ran = home.lepo(&["import", "s.jsonl"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(home.bubbs().len(), 600, "after {killed} kills");
    // A file that a killed process left in the store is no bubb, and goes.
    home.ok(&["fsck", "--recover"]);
    assert_eq!(home.ok(&["fsck"]), "");
    // An empty one that is new may be another process's.
    let left = spools(&home);
    assert!(left.iter().all(|(_, text)| text.is_empty()), "{left:?}");
    assert_eq!(journal(&home).len(), 300);
}

#[test]
fn a_full_disk_is_an_error_and_the_next_import_goes_on() {
    let home = Home::new();
    let conversations: Vec<String> = (0..200)
        .map(|n| {
            format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{n} {}\"}}]}}\n", "x".repeat(3000))
        })
        .collect();
    home.write("s.jsonl", conversations.concat());
    let script = r#"
        mount -t tmpfs -o size=400k,mode=700 none . && cd "$PWD" || exit 99
        lepo import ../s.jsonl
        code=$?
        mount -o remount,size=8m . && lepo fsck && lepo import ../s.jsonl && lepo fsck
        ls .lepo/*.md | wc -l > ../count
        exit $code"#;
    let ran = run(home.program("unshare", &["-rm", "sh", "-c", script]), b"");
    if ran.code == 99 || ran.err.contains("unshare") {
        crate::skip::skipped("mount-namespace", format!("no mount namespace here: {}", ran.err));
        return;
    }
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("hint: free some space on the disk"), "{}", ran.err);
    assert_eq!(home.read("count").trim(), "200", "{}{}", ran.out, ran.err);
}

/// Bubbs without ids: depth, kind and hidden, text, and the time in units of `unit` milliseconds.
fn shape(home: &Home, unit: u128) -> Vec<(Vec<String>, String, String, u128)> {
    let bubbs = crate::disk::bubbs(home);
    let find = |id: &str| bubbs.iter().find(|bubb| bubb.id == id).unwrap();
    let mut shape: Vec<_> = bubbs
        .iter()
        .map(|bubb| {
            let mut above = Vec::new();
            let mut prev = bubb.prev.as_str();
            while prev != "head" {
                above.push(format!("{} {}", find(prev).tag, find(prev).text));
                prev = &find(prev).prev;
            }
            (above, bubb.tag.clone(), bubb.text.clone(), crate::disk::time(&bubb.id) / unit)
        })
        .collect();
    shape.sort();
    shape
}

#[test]
fn what_is_exported_as_a_tree_comes_back_as_it_was() {
    let home = Home::new();
    // A prompt, two ways from one question, a marked text, a file, a visible system bubb, the side branches of a tool.
    let png = b"\x89PNG\r\n\x1a\n pixel";
    home.write("work/png", png);
    let prompt = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "be brief\n");
    let asked = home.add(&["--prev", &prompt], "  why?\r\n한글 \u{1f600}\t");
    let call = home.add(&["--kind", "a", "--hidden", "--prev", &asked], "a call");
    home.add(&["--kind", "t", "--hidden", "--prev", &call], "its result");
    let one = home.add(
        &["--kind", "a", "--prev", &asked],
        "<details type=\"reasoning\">\n<summary>x</summary>\nno\n</details>\nso",
    );
    home.add(&["--kind", "a", "--prev", &asked], "because");
    let seen = home.add(&["--kind", "s", "--prev", &one], "a visible notice");
    home.add(&["--prev", &seen], "{\"json\": [1, \"two\"]}");
    home.add(&["--prev", "head"], "<details type=\"x\"> alone");
    // Visible words of the system right under the prompt, and a line beside them, as compacting leaves it.
    let under = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "another prompt");
    let ran = home.add(&["--kind", "s", "--prev", &under], "$ echo hi");
    home.add(&["--prev", &ran], "run it");
    let asked_before = home.add(&["--prev", &under], "before");
    home.add(&["--kind", "a", "--prev", &asked_before], "said");
    let document = serde_json::json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "look"},
        {"type": "image_url", "name": "a b.png", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}, {"role": "assistant", "content": "ok"}]});
    home.write("work/m.json", document.to_string());
    import(&home, &["m.json"]);
    for (format, unit) in [("chatgpt", 1), ("openwebui", 1000), ("pi", 1)] {
        for hidden in [false, true] {
            let mut args = vec!["export", "--format", format, "--all", "-o", "out/"];
            args.extend(hidden.then_some("-a"));
            let paths = home.ok(&args);
            let other = Home::new();
            for path in paths.lines() {
                let path = home.work().join(path);
                let parsed: Value =
                    serde_json::from_str(&import(&other, &["--json", path.to_str().unwrap()])).unwrap();
                assert_eq!(parsed["sources"][0]["format"], format);
                assert_eq!(parsed["skipped"], serde_json::json!([]), "{parsed}");
            }
            let mut expected = shape(&home, unit);
            if !hidden {
                expected.retain(|(above, tag, _, _)| tag.ends_with('0') || above.is_empty());
            }
            assert_eq!(shape(&other, unit), expected, "{format} {hidden}");
            assert_eq!(other.ok(&["fsck"]), "");
            std::fs::remove_dir_all(home.work().join("out")).unwrap();
        }
    }
    let conv = home.ok(&["export", "--format", "messages", &one]);
    assert_eq!(conv.lines().count(), 3, "{conv}");
    home.write("work/c.jsonl", &conv);
    let other = Home::new();
    import(&other, &[home.work().join("c.jsonl").to_str().unwrap()]);
    assert!(other.ok(&["show"]).contains("why?"));
    assert_eq!(home.lepo(&["export", "--format", "pi", "--all"]).code, 2);
    assert_eq!(home.lepo(&["export", "--format", "markdown", "--all"]).code, 2);
}

#[test]
fn the_users_words_are_imported_as_typed_and_what_looks_like_a_secret_is_named() {
    let home = Home::new();
    let token = github_token(7);
    let messages = [("system", "Be brief."), ("user", "my token is TOKEN"), ("assistant", "TOKEN it is.")];
    let lines = messages.map(|(role, text)| {
        format!("{{\"role\": \"{role}\", \"content\": \"{}\"}}", text.replace("TOKEN", &token))
    });
    home.write("work/chat.json", format!("[{}]", lines.join(", ")));
    let says = "1 message of yours has what looks like a secret (github-token); it is stored as typed. \
                `lepo fsck --secrets` finds it, `lepo rm --redact` takes it out";
    for times in [1, 0] {
        let ran = home.lepo(&["import", "chat.json"]);
        assert_eq!((ran.code, ran.err.matches(says).count()), (0, times), "{}", ran.err);
    }
    let texts: Vec<String> = bubbs(&home).into_iter().map(|bubb| bubb.text).collect();
    assert_eq!(texts, ["Be brief.", &format!("my token is {token}"), "[secret: github-token] it is."]);
    assert_eq!(home.lepo(&["fsck", "--secrets"]).code, 1);
}
