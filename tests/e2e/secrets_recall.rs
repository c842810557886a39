//! Every kind of secret, by every way on which text of others reaches the disk: nothing of it is left there, and all
//! that is shown and sent is the truth.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, spools};
use crate::home::{Home, Ran, run, until};
use crate::many::Panel;
use crate::mcp::configure;
use crate::scripted::{Piece, Reply, end, openai_calls, openai_sse, said, thought};
use crate::secrets::{examples, github_token};

const OFF: &str = "planner = \"off\"\nlog_level = \"debug\"";
const NATIVE: &str = "planner = \"native\"\nlog_level = \"debug\"";
/// A value of a variable, and a configured key: secrets by no shape.
const VALUE: &str = "Tr0ub4dor \"and\" 3\\4";
const KEY: &str = "canary-of-the-config-1";
/// A secret leaves nothing as long as this.
const PIECE: usize = 12;

/// All kinds of secrets in one text.
struct SecretSample {
    text: String,
    secrets: Vec<(&'static str, String)>,
}

/// Every shape, far enough apart that none stands beside another.
fn shapes() -> SecretSample {
    let (id, key) = examples::aws();
    let aws =
        ("aws-secret-key", format!("aws_access_key_id = {id}\naws_secret_access_key = "), key, "\n".into());
    let mut sample = SecretSample { text: String::new(), secrets: vec![("aws-key-id", id)] };
    for (kind, before, secret, after) in examples::all().into_iter().chain([aws]) {
        sample.text += &format!("{before}{secret}{after}\n.\n.\n.\n.\n");
        sample.secrets.push((kind, secret));
    }
    sample
}

/// Every shape, and the two values.
fn everything() -> SecretSample {
    let mut sample = shapes();
    sample.text += &format!("the password: {VALUE}\n.\n.\n.\nand the key: {KEY}\n");
    sample.secrets.extend([("env-value", VALUE.to_string()), ("config-key", KEY.to_string())]);
    sample
}

impl SecretSample {
    /// Panics if a piece of a secret is in a file below the home, but for what the test has put there.
    fn is_nowhere_in(&self, home: &Home) {
        let pieces: HashSet<&[u8]> =
            self.secrets.iter().flat_map(|(_, secret)| secret.as_bytes().windows(PIECE)).collect();
        let mut seen = 0;
        for path in files(home.path()) {
            let short = path.strip_prefix(home.path()).unwrap();
            if short.starts_with("source") || short.starts_with("config") {
                continue;
            }
            seen += 1;
            let bytes = std::fs::read(&path).unwrap();
            if let Some(at) = bytes.windows(PIECE).position(|piece| pieces.contains(piece)) {
                let piece = String::from_utf8_lossy(&bytes[at..at + PIECE]);
                let kind = self.secrets.iter().find(|(_, secret)| secret.contains(&*piece)).unwrap().0;
                let around = &bytes[at.saturating_sub(300)..(at + 300).min(bytes.len())];
                let around = String::from_utf8_lossy(around);
                panic!("{} has {piece:?} of a {kind}: … {around} …", short.display());
            }
        }
        assert!(seen > 2, "nothing was looked at");
    }

    /// Panics if a kind has no mask in the store.
    fn is_masked_in(&self, home: &Home) {
        let store = home.work().join(".lepo");
        let kept: String = files(&store)
            .iter()
            .map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned())
            .collect();
        for (kind, _) in &self.secrets {
            // A service account's key within a string of a string is a private key all the same.
            let is_there = kept.contains(&format!("[secret: {kind}"))
                || *kind == "google-service-account" && kept.contains("[secret: private-key");
            assert!(is_there, "no mask of a {kind}: {kept}");
        }
    }

    /// Panics if a secret is not in a text.
    fn is_in(&self, text: &str, what: &str) {
        for (kind, secret) in &self.secrets {
            let in_json = serde_json::to_string(secret).unwrap();
            let is_in = text.contains(secret.as_str()) || text.contains(in_json.trim_matches('"'));
            assert!(is_in, "{what} is without its {kind}: {text}");
        }
    }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let (mut all, mut waiting) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => waiting.push(path),
                false => all.push(path),
            }
        }
    }
    all
}

/// A home whose model has a configured key and gives these replies, with a file of all secrets in `source` and a server
/// that tells them.
fn bot(settings: &str, planted: &SecretSample, replies: impl IntoIterator<Item = Reply>) -> Bot {
    let bot = Bot::openai(settings, replies);
    let config = bot.home.read("config/config.toml") + &format!("api_key = \"{KEY}\"\n");
    bot.home.write("config/config.toml", config);
    bot.home.write("source/all.txt", &planted.text);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/teller.py");
    let args = json!([script, bot.home.path().join("source/all.txt")]);
    configure(&bot.home, &[("s", json!({ "command": "python3", "args": args }))]);
    bot
}

/// lepo with the variable, and nobody to ask.
fn lepo(home: &Home, args: &[&str], stdin: &str) -> Ran {
    let mut command = home.detached(args);
    command.env("DB_PASSWORD", VALUE);
    run(command, stdin.as_bytes())
}

/// All that a model was sent with one request.
fn sent(bot: &Bot, nth: usize) -> String {
    messages(&bot.bodies()[nth]).into_iter().map(|(_, text)| text).collect()
}

#[test]
fn what_comes_with_a_question_leaves_nothing_of_any_kind() {
    let sample = everything();
    for (args, stdin) in [
        (&["--run", "cat ../source/all.txt"][..], ""),
        (&["--context", "../source/all.txt"], ""),
        (&["--context", "../source"], ""),
        (&["--file", "../source/all.txt"], ""),
        (&["--context", "mcp:s/all://told"], ""),
        (&["--prompt", "s/told"], ""),
        (&[], sample.text.as_str()),
    ] {
        // Whole, and as a blob with its begin and end.
        for limit in [100_000, 1000] {
            let bot = bot(&format!("{OFF}\noutput_limit = {limit}"), &sample, [openai_sse(["Done."])]);
            let ran = lepo(&bot.home, &[&["do", "--unmasked", "q"], args].concat(), stdin);
            assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{args:?}: {}", ran.err);
            assert!(ran.err.contains(" secrets were masked in "), "{args:?}: {}", ran.err);
            if limit > 1000 {
                sample.is_in(&sent(&bot, 0), &format!("the model's question with {args:?}"));
                sample.is_masked_in(&bot.home);
            }
            sample.is_nowhere_in(&bot.home);
            assert_eq!(bot.lepo(&["fsck"]).out, "", "{args:?}");
            assert_eq!(bot.lepo(&["fsck", "--secrets"]).out, "", "{args:?}");
        }
    }
}

#[test]
fn an_answer_leaves_nothing_of_any_kind_in_pieces_of_any_length() {
    let sample = everything();
    for length in [1, 7, 100_000] {
        let mut pieces: Vec<Piece> = Vec::new();
        let letters: Vec<char> = sample.text.chars().collect();
        let texts = || letters.chunks(length).map(|piece| piece.iter().collect::<String>());
        pieces.extend(texts().map(|text| thought(&text)));
        pieces.extend(texts().map(|text| said(&text)));
        pieces.push(end());
        for form in [&[][..], &["--json"], &["--events"], &["-o", "../source/out"]] {
            if length != 7 && !form.is_empty() {
                continue;
            }
            let bot = bot(OFF, &sample, [Reply::pieces(pieces.clone())]);
            let ran = lepo(&bot.home, &[&["do", "q"], form].concat(), "");
            assert_eq!(ran.code, 0, "{form:?}: {}", ran.err);
            let shown = match form.first() {
                Some(&"-o") => bot.home.read("source/out"),
                Some(&"--events") => whole_answer(&ran.out),
                _ => ran.out,
            };
            sample.is_in(&shown, &format!("what is shown with {form:?}"));
            sample.is_masked_in(&bot.home);
            sample.is_nowhere_in(&bot.home);
            assert_eq!(bot.lepo(&["fsck"]).out, "");
        }
    }
}

/// The text of the answer in a stream of events.
fn whole_answer(events: &str) -> String {
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter(|event| event["event"] == "text")
        .map(|event| event["text"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn a_command_of_the_model_and_its_output_leave_nothing_of_any_kind() {
    let sample = everything();
    let command = format!("cat <<'END'\n{}END\ntouch ran", sample.text);
    let call = json!({ "access": "full", "command": command }).to_string();
    let replies = [openai_calls(&sample.text, &[("run_command", call.as_str())]), openai_sse(["Done."])];
    let bot = bot(NATIVE, &sample, replies);
    let ran = lepo(&bot.home, &["do", "--json", "say it"], "");
    assert_eq!(ran.code, 4, "{}", ran.err);
    sample.is_in(&ran.out, "the request");
    let id = bubbs(&bot.home).pop().unwrap().id;
    // While it waits, what it stands for is kept beside the messages, for nobody else.
    let kept = bot.home.work().join(".lepo/_wire");
    let truth = std::fs::read_to_string(kept.join(format!("{id}.json"))).unwrap();
    std::fs::rename(&kept, bot.home.path().join("source/wire")).unwrap();
    sample.is_nowhere_in(&bot.home);
    std::fs::rename(bot.home.path().join("source/wire"), &kept).unwrap();
    sample.is_in(&truth, "what waits");
    let ran = lepo(&bot.home, &["do", "--approve", &id], "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert!(bot.home.work().join("ran").exists());
    sample.is_in(&sent(&bot, 1), "the result that the model sees");
    sample.is_masked_in(&bot.home);
    sample.is_nowhere_in(&bot.home);
    assert_eq!(bot.lepo(&["fsck"]).out, "");
}

#[test]
fn a_call_of_a_server_and_its_result_leave_nothing_of_any_kind() {
    let sample = everything();
    let call = json!({ "lines": sample.text.lines().collect::<Vec<_>>(), "whole": sample.text }).to_string();
    let replies = [openai_calls("", &[("s__tell", call.as_str())]), openai_sse(["Done."])];
    for limit in [100_000, 1000] {
        let settings = format!("{OFF}\ntool_call_mode = \"auto\"\noutput_limit = {limit}");
        let bot = bot(&settings, &sample, replies.clone());
        let ran = lepo(&bot.home, &["do", "say it"], "");
        assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
        if limit > 1000 {
            sample.is_in(&sent(&bot, 1), "the result that the model sees");
        }
        sample.is_masked_in(&bot.home);
        sample.is_nowhere_in(&bot.home);
        assert_eq!(bot.lepo(&["fsck"]).out, "");
    }
}

#[test]
fn an_import_leaves_nothing_of_any_shape() {
    let sample = shapes();
    let lines: Vec<&str> = sample.text.lines().collect();
    let line = |id: &str, after: Value, kind: &str, content: Value| {
        json!({ "parentUuid": after, "sessionId": "5e55", "cwd": "/w", "version": "2.1.233", "type": kind, "uuid": id,
            "timestamp": "2026-08-01T10:00:00.000Z", "message": { "id": id, "role": kind, "model": "m", "content": content } })
        .to_string()
    };
    let session = [
        line("u1", Value::Null, "user", json!("what is in it?")),
        line(
            "a1",
            json!("u1"),
            "assistant",
            json!([{ "type": "thinking", "thinking": sample.text, "signature": "c2ln" }]),
        ),
        line("a2", json!("a1"), "assistant", json!([{ "type": "text", "text": sample.text }])),
        line(
            "a3",
            json!("a2"),
            "assistant",
            json!([{ "type": "tool_use", "id": "t1", "name": "Write", "input": { "content": sample.text, "lines": lines } }]),
        ),
        line(
            "u2",
            json!("a3"),
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "t1", "content": sample.text }]),
        ),
        line("a4", json!("u2"), "assistant", json!([{ "type": "text", "text": "So." }])),
        json!({ "type": "summary", "summary": format!("about {}", sample.secrets[1].1), "leafUuid": "a4" })
            .to_string(),
    ];
    let home = Home::new();
    home.write("source/session.jsonl", session.join("\n") + "\n");
    let chat = json!({ "messages": [{ "role": "user", "content": "q" }, { "role": "assistant", "content": sample.text }] });
    home.write("source/chat.jsonl", chat.to_string() + "\n");
    for file in ["../source/session.jsonl", "../source/chat.jsonl"] {
        let ran = home.lepo(&["import", file]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        sample.is_masked_in(&home);
        sample.is_nowhere_in(&home);
    }
    let masks = bubbs(&home).into_iter().filter(|bubb| bubb.text.contains("[secret: github-token]")).count();
    assert!(masks >= 3, "{masks}");
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn what_is_added_leaves_nothing_of_any_kind() {
    let sample = everything();
    let bot = bot(OFF, &sample, []);
    let ran = lepo(&bot.home, &["add", "--prev", "head", "--kind", "assistant"], &sample.text);
    assert_eq!(ran.code, 0, "{}", ran.err);
    sample.is_masked_in(&bot.home);
    sample.is_nowhere_in(&bot.home);
}

#[test]
fn an_answer_of_a_schema_is_judged_as_it_was_given_and_kept_with_masks() {
    let token = github_token(1);
    for form in ["{JSON}", "```json\n{JSON}\n```\n"] {
        let json = format!("{{\"token\":\"{token}\",\"n\":1}}");
        let bot = Bot::openai(OFF, [openai_sse([form.replace("{JSON}", &json).as_str()])]);
        bot.home.write(
            "work/schema.json",
            r#"{"type":"object","properties":{"token":{"type":"string","pattern":"^ghp_","maxLength":40}}}"#,
        );
        let ran = bot.lepo(&["do", "--schema", "schema.json", "q"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, format!("{json}\n").as_str()), "{}", ran.err);
        let kept = bubbs(&bot.home).pop().unwrap().text;
        assert!(
            kept.starts_with("{\"token\":\"[secret: github-token ") && kept.ends_with("]\",\"n\":1}"),
            "{kept}"
        );
    }
}

#[test]
fn debaters_hear_the_truth_and_the_disk_does_not() {
    let sample = shapes();
    let speech = openai_sse([sample.text.as_str()]);
    let sse = |text: &str| openai_sse([text]);
    let ends = format!("END: agreed\n{}", sample.text);
    let panel = Panel::new(
        "",
        &[
            ("chief", vec![sse("SELECT: a"), sse("SELECT: b"), sse(&ends)]),
            ("a", vec![sse("REQUEST"), speech, sse("PASS"), sse("PASS")]),
            ("b", vec![sse("REQUEST"), sse("REQUEST"), sse("so it is"), sse("PASS")]),
        ],
    );
    let ran = panel.home.alone(&["do", "--debate", "--run", "true", "q"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    sample.is_in(&ran.out, "stdout");
    let heard = |name: &str| -> String {
        panel
            .server(name)
            .asked()
            .iter()
            .skip(1)
            .flat_map(|asked| messages(&asked.json()))
            .map(|(_, text)| text)
            .collect()
    };
    sample.is_in(&heard("b"), "what the other participant hears");
    sample.is_in(&heard("chief"), "what the orchestrator hears");
    sample.is_masked_in(&panel.home);
    sample.is_nowhere_in(&panel.home);
    assert_eq!(panel.home.ok(&["fsck"]), "");
}

#[test]
fn a_spool_has_nothing_of_a_secret_when_lepo_is_killed_and_neither_has_what_is_saved_of_it() {
    for (kind, before, secret, _) in examples::all() {
        // All but the end of it has come; of a private key, more than makes it certain.
        let begun = &secret[..secret.len() - 2];
        let pieces = [said(&format!("take {before}{begun}")), Piece::Wait];
        let bot = Bot::openai(OFF, [Reply::pieces(pieces)]);
        let mut command = bot.home.command(&["do", "--no-stdin", "q"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        hear(&mut child, begun);
        until("the answer is spooled", || {
            spools(&bot.home).iter().any(|(_, text)| text.starts_with("take "))
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let message = SecretSample { text: String::new(), secrets: vec![(kind, begun.to_string())] };
        message.is_nowhere_in(&bot.home);
        bot.home.ok(&["fsck", "--recover"]);
        assert!(
            spools(&bot.home).is_empty()
                && bubbs(&bot.home).iter().any(|bubb| bubb.text.starts_with("take "))
        );
        message.is_nowhere_in(&bot.home);
    }
}

/// Reads what lepo says until this was said.
fn hear(child: &mut Child, words: &str) {
    let (mut heard, mut piece) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&heard).contains(words) {
        let n = child.stdout.as_mut().unwrap().read(&mut piece).unwrap();
        assert!(n > 0, "lepo ended, and said {}", String::from_utf8_lossy(&heard));
        heard.extend(&piece[..n]);
    }
}
