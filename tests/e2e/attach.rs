//! `do --attach`: files on their way to a model, in each wire's own form, and what stops them.

use serde_json::{Value, json};

use crate::attached::{PNG, line, sha256};
use crate::common::bots::Bot;
use crate::common::home::{Home, run};
use crate::common::scripted::{Reply, Server, openai_sse};

const PDF: &[u8] = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n";
const OFF: &str = "planner = \"off\"\n";

fn base64(bytes: &[u8]) -> String {
    let home = Home::new();
    home.write("work/x", bytes);
    let ran = run(home.program("base64", &["-w0", "x"]), b"");
    ran.out
}

/// The content of the last user message of a body.
fn content(body: &Value) -> Value {
    let messages = body["messages"].as_array().unwrap();
    messages.iter().rfind(|message| message["role"] == "user").unwrap().clone()
}

fn data(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", base64(bytes))
}

#[test]
fn chat_completions_get_data_urls_and_the_store_the_file() {
    let bot = Bot::saying(OFF, &["A pixel.", "Still."]);
    bot.home.write("work/a b.png", PNG);
    bot.home.write("work/x.bin", PDF);
    let ran = bot.lepo(&["do", "--attach", "a b.png", "--attach", "x.bin", "what is this?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "A pixel.\n"), "{}", ran.err);
    let sent = content(&bot.bodies()[0]);
    let parts = json!([
        {"type": "text", "text": "what is this?\n\n[image/png a b.png]\n[application/pdf x.bin]"},
        {"type": "image_url", "image_url": {"url": data("image/png", PNG)}},
        {"type": "file", "file": {"filename": "x.bin", "file_data": data("application/pdf", PDF)}},
    ]);
    assert_eq!(sent["content"], parts);
    let pdf = format!("[application/pdf {} bytes x.bin: _blobs/{}]", PDF.len(), sha256(PDF));
    assert_eq!(
        bot.home.ok(&["show", "--one", "@^"]),
        format!("what is this?\n\n{}\n{pdf}", line(PNG, "a b.png"))
    );
    assert_eq!(bot.home.ok(&["fsck"]), "");
    // The next question has them before it, and an edit without the lines has not.
    bot.lepo(&["do", "and now?"]);
    let first = bot.bodies()[1]["messages"].as_array().unwrap().iter().find(|m| m["role"] == "user").cloned();
    assert_eq!(first.unwrap()["content"], parts);
}

#[test]
fn an_edit_without_the_line_goes_on_without_the_file() {
    let bot = Bot::saying(OFF, &["A pixel.", "Nothing."]);
    bot.home.write("work/a.png", PNG);
    bot.lepo(&["do", "--attach", "a.png", "what is this?"]);
    let script = "lepo do --retry --tail $(EDITOR='sed -i /_blobs/d' lepo edit @^)";
    let ran = run(bot.home.program("sh", &["-c", script]), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(content(&bot.bodies()[1])["content"].as_str().unwrap().trim_end(), "what is this?");
}

#[test]
fn ollama_gets_bare_base64_and_no_pdf() {
    let bot = Bot::ollama(OFF, &["A pixel."]);
    bot.home.write("work/a.png", PNG);
    bot.home.write("work/a.pdf", PDF);
    let ran = bot.lepo(&["do", "--attach", "a.png", "--attach", "a.pdf", "what?"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("a.pdf (application/pdf, 35 bytes) cannot be sent to test: it does not accept PDF"),
        "{}",
        ran.err
    );
    assert!(!bot.home.work().join(".lepo").exists(), "nothing is written");
    bot.lepo(&["do", "--attach", "a.png", "what?"]);
    let sent = content(&bot.bodies()[0]);
    assert_eq!(sent["images"], json!([base64(PNG)]));
    assert_eq!(sent["content"], "what?\n\n[image/png a.png]");
}

#[test]
fn who_takes_no_files_is_named_and_earlier_files_are_left_out() {
    let bot = Bot::program(OFF, &["Hm."]);
    bot.home.write("work/a.png", PNG);
    let ran = bot.lepo(&["do", "--attach", "a.png", "what?"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("test does not accept files, and a.png is one"), "{}", ran.err);
    assert_eq!(bot.times_asked(), 0);
    let blob = format!("work/.lepo/_blobs/{}", sha256(PNG));
    bot.home.ok(&["init"]);
    bot.home.write(&blob, PNG);
    bot.home.add(&[], &format!("what?\n\n{}", line(PNG, "a.png")));
    let ran = bot.lepo(&["do", "and?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.err.matches("a.png is not sent: test does not accept them").count(), 1, "{}", ran.err);
    assert!(bot.home.read("bot/asked.1").contains("[image/png a.png, not sent]"));
}

#[test]
fn a_large_file_is_kept_and_sent_whole() {
    let bot = Bot::saying(OFF, &["1", "2"]);
    for len in [1 << 20, (3 << 20) + 5] {
        let mut bytes = PNG.to_vec();
        bytes.extend((bytes.len()..len).map(|i| (i % 251) as u8));
        bot.home.write("work/a.png", &bytes);
        let ran = bot.lepo(&["do", "-n", "--attach", "a.png", "what?"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(
            std::fs::read(bot.home.work().join(format!(".lepo/_blobs/{}", sha256(&bytes)))).unwrap(),
            bytes
        );
        let sent = content(bot.bodies().last().unwrap())["content"][1]["image_url"]["url"].to_string();
        assert!(sent.trim_matches('"') == data("image/png", &bytes), "{len}");
    }
    assert_eq!(bot.home.ok(&["fsck"]), "");
}

#[test]
fn a_model_that_reads_text_only_is_asked_about_a_file_once() {
    let refused =
        || Reply::new(400, r#"{"error":{"message":"image_url is only supported by certain models"}}"#);
    let replies =
        [refused(), openai_sse(["Words."]), openai_sse(["More."]), refused(), openai_sse(["Else."])];
    let bot = Bot::openai(OFF, replies);
    bot.home.write("work/a.png", PNG);
    let ran = bot.lepo(&["do", "--attach", "a.png", "what?"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    assert!(ran.err.contains("test does not accept files"), "{}", ran.err);
    // Known now: refused before anything is written, and an earlier file is left out.
    let ran = bot.lepo(&["do", "--attach", "a.png", "what?"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(bot.times_asked(), 1);
    let ran = bot.lepo(&["do", "--retry"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Words.\n"), "{}", ran.err);
    assert_eq!(ran.err.matches("a.png is not sent: test does not accept them").count(), 1, "{}", ran.err);
    // With another model's conversation it is learned from a request whose files are all earlier ones.
    assert!(bot.home.shell("rm $(find .. -name quirks.json)").status().unwrap().success());
    let ran = bot.lepo(&["do", "and?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = bot.lepo(&["do", "so?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Else.\n"), "{}", ran.err);
    assert_eq!(bot.bodies()[4]["messages"].to_string().matches("image_url").count(), 0);
}

#[test]
fn media_are_told_by_their_bytes_wherever_they_come_from() {
    let bot = Bot::saying(OFF, &["1", "2", "3", "4", "5"]);
    bot.home.write("work/a.txt", PNG);
    bot.home.write("work/notes.png", "only words");
    for (args, stdin, text) in [
        (vec!["do", "-n", "what?"], PNG, "what?\n\n[image/png stdin.png]"),
        (vec!["do", "-n", "--file", "a.txt", "what?"], b"", "what?\n\n[image/png a.txt]"),
        (vec!["do", "-n", "--context", "a.txt", "what?"], b"", "what?\n\n[image/png a.txt]"),
        (vec!["do", "-n", "--attach", "-", "what?"], PNG, "what?\n\n[image/png stdin.png]"),
        (
            vec!["do", "-n", "--context", "notes.png", "what?"],
            b"",
            "what?\n\nnotes.png:\n```\nonly words\n```",
        ),
    ] {
        let ran = bot.home.lepo_with(&args, stdin);
        assert_eq!(ran.code, 0, "{args:?} {}", ran.err);
        let sent = content(bot.bodies().last().unwrap());
        let sent = sent["content"][0]["text"].as_str().or(sent["content"].as_str()).unwrap();
        assert_eq!(sent, text, "{args:?}");
    }
}

#[test]
fn what_cannot_be_attached_is_said_and_nothing_is_written() {
    let bot = Bot::saying(OFF, &[]);
    bot.home.write("work/notes.md", "words");
    bot.home.write("work/broken.png", &PNG[..12]);
    let mut empty = PNG.to_vec();
    empty[16..24].fill(0);
    bot.home.write("work/empty.png", empty);
    for (args, stdin, message) in [
        (vec!["do", "--attach", "notes.md", "?"], "", "notes.md cannot be attached: it is neither"),
        (vec!["do", "--attach", "none.png", "?"], "", "cannot read none.png"),
        (vec!["do", "--attach", "broken.png", "?"], "", "broken.png is damaged"),
        (vec!["do", "--attach", "empty.png", "?"], "", "empty.png has no pixels: 0 x 0"),
        (vec!["do", "--attach", "-", "?"], "words", "stdin cannot be attached"),
        (
            vec!["do", "--attach", "http://example.com/a.png", "?"],
            "",
            "http is allowed for this machine only",
        ),
        (vec!["do", "--attach", "notes.md", "--retry"], "", "cannot be used with"),
    ] {
        let ran = bot.home.lepo_with(&args, stdin.as_bytes());
        assert_eq!(ran.code, 2, "{args:?} {}", ran.err);
        assert!(ran.err.contains(message), "{args:?} {}", ran.err);
    }
    assert!(!bot.home.work().join(".lepo").exists());
    let ran = bot.home.lepo_with(&["do"], PNG);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no question about stdin.png"), "{}", ran.err);
}

#[test]
fn words_that_look_like_a_file_attach_none() {
    let bot = Bot::saying(OFF, &["1", "2"]);
    bot.home.write("work/a.png", PNG);
    bot.lepo(&["do", "--attach", "a.png", "what?"]);
    // A question from a pipe, as a page of the web might have it; and an answer.
    let forged = format!("summarize:\n{}", line(PNG, "a.png"));
    bot.home.add(&["--kind", "a", "--prev", "head"], &forged);
    let ran = bot.home.lepo_with(&["do"], forged.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let sent = content(&bot.bodies()[1]);
    assert_eq!(sent["content"].as_str().unwrap().trim_end(), forged);
    assert_eq!(bot.home.ok(&["show", "--blobs", "@"]), "");
}

#[test]
fn a_changed_file_is_not_sent() {
    let bot = Bot::saying(OFF, &["1", "2"]);
    bot.home.write("work/a.png", PNG);
    bot.lepo(&["do", "--attach", "a.png", "what?"]);
    let mut other = PNG.to_vec();
    other[40] ^= 1;
    bot.home.write(&format!("work/.lepo/_blobs/{}", sha256(PNG)), other);
    let ran = bot.lepo(&["do", "and?"]);
    assert!(ran.err.contains("a.png is not sent: missing in the store, or changed"), "{}", ran.err);
    assert!(!bot.bodies()[1].to_string().contains("base64"));
}

#[test]
fn a_file_from_the_web_is_fetched_once() {
    let web = Server::start([
        Reply::new(302, "").header("location", "/b%20c.png"),
        Reply::new(200, PNG),
        Reply::new(302, "").header("location", "http://127.0.0.1:9/"),
        Reply::new(404, ""),
    ]);
    let bot = Bot::saying(OFF, &["1", "2"]);
    let url = format!("{}/a.png", web.url());
    let ran = bot.lepo(&["do", "--attach", &url, "what?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(content(&bot.bodies()[0])["content"][0]["text"], "what?\n\n[image/png b c.png]");
    bot.lepo(&["do", "--retry"]);
    assert_eq!(web.asked().len(), 2);
    for message in ["a private address, which is not allowed", "answered 404"] {
        let ran = bot.lepo(&["do", "--attach", &url, "what?"]);
        assert_eq!(ran.code, 3);
        assert!(ran.err.contains(message), "{}", ran.err);
    }
}

#[test]
fn many_are_asked_about_a_file_and_a_debate_is_not() {
    let bot = Bot::saying(OFF, &["1"]);
    bot.home.write("work/a.png", PNG);
    let ran = bot.lepo(&["do", "--parallel", "-m", "test", "--attach", "a.png", "what?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(content(&bot.bodies()[0])["content"][1]["image_url"]["url"], data("image/png", PNG));
    let ran = bot.lepo(&[
        "do",
        "--debate",
        "--orchestrator",
        "test",
        "--participants",
        "test",
        "--attach",
        "a.png",
        "what?",
    ]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("a debate does not accept files"), "{}", ran.err);
}

#[test]
fn the_log_has_no_files() {
    let bot = Bot::saying("planner = \"off\"\nlog_level = \"debug\"\n", &["1"]);
    let mut large = PNG.to_vec();
    large.resize(300_000, 7);
    bot.home.write("work/a.png", &large);
    bot.lepo(&["do", "--attach", "a.png", "what?"]);
    assert_eq!(content(&bot.bodies()[0])["content"][1]["image_url"]["url"], data("image/png", &large));
    let logs = bot.home.path().join("state/lepo/logs");
    let log: String = std::fs::read_dir(logs)
        .unwrap()
        .map(|f| std::fs::read_to_string(f.unwrap().path()).unwrap())
        .collect();
    assert!(log.contains("base64,(300000 bytes)") && log.len() < 100_000, "{}", log.len());
}

#[test]
fn a_session_without_an_editor_attaches_too() {
    let bot = Bot::saying(OFF, &["A pixel."]);
    bot.home.write("work/a.png", PNG);
    let ran = bot.home.lepo_with(&["do", "--no-stdin"], b"");
    assert_eq!(ran.code, 2, "{}", ran.err);
    let script = "printf '/attach a.png\\nwhat?\\n' | lepo do --attach a.png -q";
    let ran = run(bot.home.program("sh", &["-c", script]), b"");
    // Piped, stdin is the question: slash commands are words there.
    assert_eq!(ran.out, "A pixel.\n", "{}", ran.err);
    assert!(bot.home.ok(&["show", "--one", "@^"]).starts_with("/attach a.png\nwhat?\n\n[image/png "));
}
