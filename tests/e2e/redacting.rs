//! `rm --redact`: secrets are taken out of what is written already, and all that names it moves along.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::scripted::{openai_calls, openai_sse};
use crate::secrets::{aws_id, github_token, private_key};
use crate::sync::{begin, ids, remote};

/// Everything in the store.
fn on_disk(home: &Home) -> String {
    let out = home.shell("cd .lepo && find . -type f -exec cat {} +").output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// A home in which what is added is kept as it is.
fn open_home() -> Home {
    Home::with_config("secrets = \"off\"\n")
}

/// `OLD NEW …` a line.
fn table(out: &str) -> Vec<(String, String, String)> {
    let row = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let mut next = || words.next().unwrap_or_default().to_string();
        (next(), next(), next())
    };
    out.lines().map(row).collect()
}

#[test]
fn a_message_gets_masks_and_all_that_follows_it_new_ids() {
    let (home, token) = (open_home(), github_token(1));
    let root = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "Be brief.");
    let question = home.add(&["--prev", &root, "--time", "2025-03-01T12:00Z"], &format!("is {token} valid?"));
    let answer = home.add(&["--kind", "a", "--prev", &question], "yes");
    let other = home.add(&["--kind", "a", "--prev", &question], "no");
    let apart = home.add(&["--prev", "head"], "elsewhere");
    home.ok(&["branch", "main", &answer]);
    home.ok(&["branch", "apart", &apart]);
    home.ok(&["title", &question, "about", &token]);
    let journal = home.work().join(".lepo/_journal.ndjson");
    std::fs::write(
        &journal,
        format!("{{\"time\":1,\"bubb\":\"{answer}\",\"what\":\"answer\",\"model\":\"gpt\",\"ms\":1}}\n"),
    )
    .unwrap();

    let listed = home.ok(&["rm", "-n", "--redact", &question]);
    assert!(on_disk(&home).contains(&token), "it is listed, and nothing changes");
    let ran = home.alone(&["rm", "--redact", &question]);
    assert!(ran.code == 2 && ran.err.contains("no terminal"), "{}", ran.err);
    let ran = home.alone(&["rm", "-y", "--redact", &question]);
    assert_eq!((ran.code, ran.out.as_str()), (0, listed.as_str()), "{}", ran.err);
    let rows = table(&ran.out);
    let olds: Vec<&str> = rows.iter().map(|(old, ..)| old.as_str()).collect();
    assert_eq!(olds.len(), 3);
    assert_eq!((olds[0], rows[0].2.as_str()), (question.as_str(), "github-token"));
    assert!(olds.contains(&answer.as_str()) && olds.contains(&other.as_str()));

    let disk = on_disk(&home);
    assert!(!disk.contains(&token) && olds.iter().all(|old| !disk.contains(old)), "{disk}");
    let texts: Vec<String> = bubbs(&home).into_iter().map(|bubb| bubb.text).collect();
    assert!(
        texts.iter().any(|text| text.starts_with("is [secret: github-token ") && text.ends_with("] valid?"))
    );
    assert_eq!(texts.len(), 5);
    let now = |old: &str| rows.iter().find(|(from, ..)| from == old).unwrap().1.clone();
    assert_eq!(home.ok(&["resolve", "main"]), format!("{}\n", now(&answer)));
    assert_eq!(home.ok(&["resolve", "apart"]), format!("{apart}\n"));
    assert!(home.ok(&["title", &now(&answer)]).starts_with("about [secret: github-token "));
    let journal = std::fs::read_to_string(journal).unwrap();
    assert!(journal.contains(&now(&answer)) && !journal.contains("copy_of"), "{journal}");
    assert_eq!(home.ok(&["fsck"]), "");
    assert_eq!(home.lepo(&["fsck", "--secrets"]).code, 0);
    // Days and times stay.
    assert_eq!(now(&question).get(..10), question.get(..10));
    let ran = home.alone(&["rm", "-y", "--redact", "--all"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", "nothing to mask\n"));
}

#[test]
fn on_a_terminal_it_asks() {
    let token = github_token(2);
    for (answer, code) in [("n\n", 1), ("y\n", 0)] {
        let home = open_home();
        let id = home.add(&["--prev", "head"], &token);
        home.add(&["--kind", "a"], "so");
        let ran = on_terminal(home.command(&["rm", "--redact", "@^"]), &[("(y/N): ", answer)]);
        assert_eq!(ran.code, code, "{}", ran.out);
        let asked = "Mask 1 secret (github-token), and give 2 messages new ids? (y/N): ";
        assert!(ran.out.contains(asked), "{}", ran.out);
        // Ids are short here, and whole in a pipe.
        assert!(ran.out.contains(&format!("{} ", &id[18..])) && !ran.out.contains(&id), "{}", ran.out);
        assert_eq!(on_disk(&home).contains(&token), code == 1);
    }
}

#[test]
fn all_that_fsck_finds_goes_and_settings_and_strangers_stay() {
    let (home, token) = (open_home(), github_token(3));
    let blob = format!("{}\n{}\n", token, private_key(20));
    let hash = |text: &str| {
        home.write("work/x", text);
        let out = home.shell("sha256sum x").output().unwrap();
        String::from_utf8_lossy(&out.stdout).split(' ').next().unwrap().to_string()
    };
    let (named, orphan) = (hash(&blob), hash(&token));
    home.add(&["--prev", "head"], "what is in it?");
    home.write(&format!("work/.lepo/_blobs/{named}"), &blob);
    home.write(&format!("work/.lepo/_blobs/{orphan}"), &token);
    let result =
        home.add(&["--kind", "t", "--hidden"], &format!("$ cat x\n[{} bytes: _blobs/{named}]", blob.len()));
    home.add(&["--kind", "a"], &format!("an id: {}", aws_id()));
    home.write("work/.lepo/_prompts/p.md", format!("use {token}"));
    home.write("work/.lepo/_mcp.json", format!("{{\"x\":\"{token}\"}}"));
    home.write("work/.lepo/_mine", &token);
    let theirs = home.work().join(".lepo/_from/alice");
    std::fs::create_dir_all(&theirs).unwrap();
    let other = open_home();
    let id = other.add(&["--prev", "head"], &format!("alice has {token}"));
    for file in other.bubbs() {
        std::fs::copy(other.work().join(".lepo").join(&file), theirs.join(&file)).unwrap();
    }

    let ran = home.alone(&["rm", "-y", "--redact", &format!("alice/{id}")]);
    assert!(ran.code == 2 && ran.err.contains("only alice can change it"), "{} {}", ran.code, ran.err);
    let ran = home.alone(&["rm", "-y", "--redact", "--all", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let kinds = |at: usize| document["replaced"][at]["kinds"].clone();
    assert_eq!(document["replaced"].as_array().unwrap().len(), 2, "{document}");
    assert_eq!(document["replaced"][0]["id"], result);
    assert_eq!(
        (kinds(0), kinds(1)),
        (serde_json::json!(["github-token", "private-key"]), serde_json::json!(["aws-key-id"]))
    );
    assert_eq!(document["files"][0]["path"], "_prompts/p.md");
    let left: Vec<&str> =
        document["left"].as_array().unwrap().iter().map(|left| left["subject"].as_str().unwrap()).collect();
    assert!(
        left.contains(&"_mcp.json") && left.contains(&"_mine") && left.contains(&id.as_str()),
        "{document}"
    );
    assert!(document["held_by"].as_array().unwrap().iter().any(|held| held == "alice's clone"), "{document}");
    for gone in [&named, &orphan] {
        assert!(!home.work().join(format!(".lepo/_blobs/{gone}")).exists());
    }
    let result = bubbs(&home).into_iter().find(|bubb| bubb.text.starts_with("$ cat x")).unwrap();
    let hash = result.text.split("_blobs/").nth(1).unwrap().trim_end_matches(']').to_string();
    let masked = home.read(&format!("work/.lepo/_blobs/{hash}"));
    assert!(
        masked.starts_with("[secret: github-token ") && masked.contains("[secret: private-key "),
        "{masked}"
    );
    assert_eq!(home.ok(&["fsck"]), "");
    assert_eq!(home.lepo(&["fsck", "--secrets"]).out.lines().count(), 3);
}

#[test]
fn messages_that_keep_the_same_are_named_and_the_history_of_the_prompt() {
    let (home, token) = (open_home(), github_token(6));
    let question = home.add(&["--prev", "head"], &format!("is {token} valid?"));
    let answer = home.add(&["--kind", "a", "--prev", &question], &format!("{token} is"));
    home.add(&["--prev", "head"], "elsewhere");
    let listed = home.alone(&["rm", "-n", "--redact", &question]);
    let same = |id: &str| format!("note: 1 other message with the same secret: lepo rm --redact {id}\n");
    assert!(listed.err.contains(&same(&answer)), "{}", listed.err);
    home.write("state/lepo/history", format!("is {token} valid?\n"));

    let ran = home.alone(&["rm", "-y", "--redact", &question]);
    let rows = table(&ran.out);
    let now = &rows.iter().find(|(old, ..)| *old == answer).unwrap().1;
    assert!(ran.err.contains(&same(now)), "{}", ran.err);
    let history = home.path().join("state/lepo/history");
    let held = format!("note: may still contain it: the history of the prompt, {}\n", history.display());
    assert!(ran.err.contains(&held), "{}", ran.err);
    let ran = home.alone(&["rm", "-y", "--redact", now]);
    assert!(ran.code == 0 && !ran.err.contains("same secret"), "{}", ran.err);
    assert!(!on_disk(&home).contains(&token));
}

#[test]
fn words_that_were_replaced_are_looked_for_in_other_messages() {
    let home = open_home();
    let question = home.add(&["--prev", "head"], "my password is swordfish-9, is it good?");
    let answer = home.add(&["--kind", "a", "--prev", &question], "swordfish-9 is short");
    let ran = home.alone(&["rm", "-y", "--redact", &question]);
    let hint = "hint: to take out other text: lepo rm --redact --replace ADDR=FILE\n";
    assert!(ran.err.ends_with(&format!("nothing to mask\n{hint}")), "{}", ran.err);
    home.write("work/words", "my password is [gone], is it good?");
    let ran = home.alone(&["rm", "-y", "--redact", "--replace", &format!("{question}=words"), "--json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let rows = document["replaced"].as_array().unwrap();
    let now = rows.iter().find(|row| row["id"] == answer.as_str()).unwrap()["now"].as_str().unwrap();
    assert_eq!(document["same_words"], serde_json::json!([now]));
    assert_eq!(document["same_secret"], serde_json::json!([]));
    let text = format!("note: 1 other message with the text that was replaced: {now}\n");
    assert!(ran.err.contains(&text), "{}", ran.err);
}

#[test]
fn only_a_kind_goes_and_other_words_take_the_place_of_a_message() {
    let (home, token) = (open_home(), github_token(4));
    let first = home.add(&["--prev", "head"], &format!("{token} and {}", aws_id()));
    let second = home.add(&["--kind", "a"], &format!("the name is Kim, {token}"));
    let ran = home.alone(&["rm", "--redact", &first, "--kind", "no-such-kind", "-y"]);
    assert!(ran.code == 2 && ran.err.contains("aws-key-id"), "{}", ran.err);
    home.write("work/words", "the name is not said");
    let replace = format!("{second}=words");
    let ran = home.alone(&["rm", "--redact", &first, "--kind", "aws-key-id", "--replace", &replace, "-y"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows = table(&ran.out);
    assert_eq!((rows[0].2.as_str(), rows[1].2.as_str()), ("aws-key-id", "other words"));
    let texts: Vec<String> = bubbs(&home).into_iter().map(|bubb| bubb.text).collect();
    assert!(texts[0].starts_with(&format!("{token} and [secret: aws-key-id ")), "{texts:?}");
    assert_eq!((texts.len(), texts[1].as_str()), (2, "the name is not said"));
    assert_eq!(home.alone(&["rm", "--redact", "-y"]).code, 2, "no message given");
    let ran = home.alone(&["rm", "--redact", &rows[1].1, "-y"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("no secret in"), "{}", ran.err);
}

#[test]
fn a_request_that_waits_moves_along_and_runs_as_the_model_made_it() {
    let (token, typed) = (github_token(5), github_token(6));
    let call = format!(r#"{{"access":"full","command":"echo {token} > ran"}}"#);
    let bot = Bot::openai(
        "planner = \"native\"",
        [openai_calls("", &[("run_command", call.as_str())]), openai_sse(["Done."])],
    );
    let ran = bot.home.alone(&["do", &format!("say it with {typed}")]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let question = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.contains(&typed)).unwrap().id;
    let message = format!("it is stored as typed. To remove it: lepo rm --redact {question}");
    assert!(ran.err.contains(&message), "{}", ran.err);
    let ran = bot.home.alone(&["rm", "-y", "--redact", &question]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let request = table(&ran.out).pop().unwrap();
    let kept = |id: &str| bot.home.work().join(format!(".lepo/_wire/{id}.json"));
    assert!(!kept(&request.0).exists() && kept(&request.1).exists());
    assert!(bot.lepo(&["ls", "--pending"]).out.contains(&request.1));
    let ran = bot.home.alone(&["do", "--approve", &request.1]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(bot.home.read("work/ran"), format!("{token}\n"));
    let asked = bot.bodies().pop().unwrap().to_string();
    assert!(!asked.contains(&typed) && asked.contains("[secret: github-token "), "{asked}");
    assert!(asked.contains("\"tool_calls\""), "the call is given back as it came: {asked}");
}

#[test]
fn what_is_kept_for_a_request_goes_if_it_has_the_secret() {
    let token = github_token(7);
    let call = format!(r#"{{"access":"full","command":"echo {token} > ran"}}"#);
    let bot = Bot::openai("planner = \"native\"", [openai_calls("", &[("run_command", call.as_str())])]);
    assert_eq!(bot.home.alone(&["do", &format!("say {token}")]).code, 4);
    let ran = bot.home.alone(&["rm", "-y", "--redact", "--all"]);
    let request = table(&ran.out).pop().unwrap().1;
    assert!(ran.err.contains(&format!("request {request} can no longer be approved")), "{}", ran.err);
    assert!(!on_disk(&bot.home).contains(&token));
    let ran = bot.home.alone(&["do", "--approve", &request]);
    assert!(ran.code == 2 && ran.err.contains("is not on this machine"), "{} {}", ran.code, ran.err);
}

#[test]
fn a_copy_that_is_a_request_waits_for_nothing_afterwards_either() {
    let (home, token) = (open_home(), github_token(8));
    let root = home.add(&["--prev", "head"], &token);
    let request = home.add(&["--kind", "a", "--hidden"], r#"{"access":"read","command":"ls"}"#);
    assert!(home.ok(&["ls", "--pending"]).contains(&request));
    let line = format!("{{\"time\":1,\"bubb\":\"{request}\",\"copy_of\":\"{root}\"}}\n");
    home.write("work/.lepo/_journal.ndjson", line);
    assert_eq!(home.ok(&["ls", "--pending"]), "");
    home.ok(&["rm", "-y", "--redact", "--all"]);
    assert_eq!(home.ok(&["ls", "--pending"]), "");
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn other_clones_drop_it_too_and_who_may_still_hold_it_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let clone = || {
        let home = open_home();
        home.write(".gitconfig", "[user]\n\temail = me@x\n\tname = x\n");
        home
    };
    let (a, b, token) = (clone(), clone(), github_token(9));
    let question = a.add(&["--prev", "head"], &format!("is {token} valid?"));
    let answer = a.add(&["--kind", "a"], "yes");
    a.ok(&["branch", "main", &answer]);
    assert_eq!(begin(&a, &remote, "laptop").code, 1, "it is held back");
    let ran = a.alone(&["sync", "--allow", &question]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let to = remote.to_string_lossy();
    let ran = b.alone(&["sync", "--yes", "--as", "desk", "--mine", "laptop", "--allow", &question, &to]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(on_disk(&b).contains(&token));
    let git = "git init -q . && rm .lepo/.gitignore && git add -f .lepo && git commit -qm x";
    assert!(a.shell(git).status().unwrap().success());

    let ran = a.alone(&["sync", "--mine", "desk"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = a.alone(&["rm", "-y", "--redact", &question]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for held in ["desk, your other clone", "the remote, until", "the git history of the project"] {
        assert!(ran.err.contains(&format!("note: may still contain it: {held}")), "{held}: {}", ran.err);
    }
    for home in [&a, &b, &a] {
        let ran = home.alone(&["sync", "--yes"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    assert_eq!(ids(&a), ids(&b));
    assert!(!on_disk(&a).contains(&token) && !on_disk(&b).contains(&token));
    let at = |home: &Home| home.ok(&["resolve", "main"]);
    assert!(at(&a) == at(&b) && at(&a) != format!("{answer}\n"));
    assert_eq!(b.ok(&["branch"]).lines().count(), 1);
    assert_eq!((a.ok(&["fsck"]), b.ok(&["fsck"])), (String::new(), String::new()));
}

#[test]
fn what_is_kept_for_a_request_alone_goes_or_is_named() {
    let token = github_token(13);
    let call = format!(r#"{{"access":"full","command":"echo {token} > ran"}}"#);
    let waiting = || {
        let bot = Bot::openai("planner = \"native\"", [openai_calls("", &[("run_command", call.as_str())])]);
        assert_eq!(bot.home.alone(&["do", "say it"]).code, 4);
        assert!(on_disk(&bot.home).contains(&token));
        let id = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.contains("[secret: ")).unwrap().id;
        (bot, id)
    };
    // All of the store, or the request by its id: what it stands for goes.
    for address in ["--all", ""] {
        let (bot, request) = waiting();
        let address = if address.is_empty() { request.as_str() } else { address };
        let listed = bot.home.alone(&["rm", "-n", "--redact", address]);
        assert!(
            listed.out.contains(&format!("_wire/{request}.json github-token")),
            "{}{}",
            listed.out,
            listed.err
        );
        let ran = bot.home.alone(&["rm", "-y", "--redact", address]);
        assert!(ran.err.contains(&format!("request {request} can no longer be approved")), "{}", ran.err);
        assert!(!on_disk(&bot.home).contains(&token));
        assert_eq!(bot.home.alone(&["do", "--approve", &request]).code, 2);
    }
    // Another message with the same secret: the request is named.
    let (bot, request) = waiting();
    bot.home.write("config/config.toml", "secrets = \"off\"\n");
    let other = bot.home.add(&["--prev", "head"], &format!("is {token} valid?"));
    bot.home.ok(&["config", "secrets", "mask"]);
    let ran = bot.home.alone(&["rm", "-y", "--redact", &other]);
    let held = format!(
        "may still contain it: request {request}, until it is decided on: lepo do --deny {request}\n"
    );
    assert!(ran.err.contains(&held), "{}", ran.err);
}

#[test]
fn copies_in_foreign_folders_and_unfinished_files_are_named() {
    let (home, token) = (open_home(), github_token(14));
    let text = format!("is {token} valid?");
    let question = home.add(&["--prev", "head"], &text);
    let file = home.bubbs().remove(0);
    // A file of the same name elsewhere is not the message, whatever comes first.
    home.write(&format!("work/.lepo/0/{file}"), "nothing in it");
    home.write(&format!("work/.lepo/backup/{file}"), &text);
    home.write("work/.lepo/_tmp/a0-head-1-1", &text);
    let found = home.lepo(&["fsck", "--secrets"]).out;
    assert_eq!(found, format!("{question} github-token line 1\nbackup/{file} github-token line 1\n"));
    let ran = home.alone(&["rm", "-n", "--redact", "--all"]);
    for named in [format!("backup/{file}"), "_tmp/a0-head-1-1".to_string()] {
        assert!(
            ran.err.contains(&format!("note: {named} was left as it is (github-token): ")),
            "{}",
            ran.err
        );
    }
    let ran = home.alone(&["rm", "-y", "--redact", &question]);
    assert_eq!((ran.code, table(&ran.out)[0].0.as_str()), (0, question.as_str()), "{}", ran.err);
    for named in [format!("0/{file}"), format!("backup/{file}"), "_tmp/a0-head-1-1".to_string()] {
        let held = format!("may still contain it: {named}, a file of the store\n");
        assert!(ran.err.contains(&held), "{held}: {}", ran.err);
    }
}

/// A record as a kill leaves it, with the proof of this home's key for the store in `of`.
fn record(home: &Home, of: &Path, wish: Value, replaced: Value) -> String {
    let key: [u8; 32] =
        std::fs::read(home.path().join("state/lepo/secrets-key")).unwrap().try_into().unwrap();
    let store = lepo_base::work_folder::identity_of(&of.join(".lepo")).unwrap();
    let proven = json!([wish, replaced]).to_string();
    let mut proof = lepo_secrets::keyed_hash(&key, &[b"replacement", proven.as_bytes(), store.as_bytes()]);
    proof.truncate(32);
    json!({ "wish": wish, "replaced": replaced, "proof": proof }).to_string()
}

fn wish(ids: &[&str]) -> Value {
    json!({ "all": false, "ids": ids, "kinds": [], "replace": [] })
}

/// A home that has a key already.
fn keyed_home() -> Home {
    let home = open_home();
    home.write("state/lepo/secrets-key", "k".repeat(32));
    home
}

#[test]
fn what_was_interrupted_is_completed_by_the_next_one() {
    let (home, token) = (keyed_home(), github_token(10));
    let question = home.add(&["--prev", "head"], &format!("is {token} valid?"));
    home.add(&["--kind", "a"], "yes");
    // As a kill leaves it before any copy has its place.
    let record = record(&home, &home.work(), wish(&[&question]), Value::Null);
    home.write("work/.lepo/_replacing.json", &record);
    let ran = home.lepo(&["fsck"]);
    assert!(ran.code == 0 && ran.out.starts_with("stray _replacing.json: `lepo rm --redact`"), "{}", ran.out);
    let what = "mask 1 secret (github-token), and give 2 messages new ids";
    let ran = home.lepo(&["rm", "-n", "--redact", "--all"]);
    assert!(ran.err.contains(&format!("the next one completes it: {what}\n")), "{}", ran.err);
    // What it would do is said, and it asks; an address that is none comes first.
    for args in [&["rm", "--redact"][..], &["rm", "-y", "--redact", "nosuchbranch"]] {
        let ran = home.alone(args);
        assert!(
            ran.code == 2 && ran.err.contains(if args.len() == 2 { what } else { "nosuchbranch" }),
            "{}",
            ran.err
        );
        assert!(on_disk(&home).contains(&token));
    }
    let asked = format!("Complete the interrupted `lepo rm --redact`: {what}? (y/N): ");
    let ran = on_terminal(home.command(&["rm", "--redact"]), &[("(y/N): ", "n\n")]);
    let out = ran.out.replace("\r\n", " ").replace('\n', " ");
    assert!(ran.code == 1 && out.contains(&asked) && on_disk(&home).contains(&token), "{out}");
    let ran = on_terminal(home.command(&["rm", "--redact"]), &[("(y/N): ", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("completed the interrupted `lepo rm --redact`"), "{}", ran.out);
    assert!(!on_disk(&home).contains(&token));
    assert_eq!(home.ok(&["fsck"]), "");
    // The command line that named the old id is done, too.
    home.write("work/.lepo/_replacing.json", record);
    let ran = home.alone(&["rm", "-y", "--redact", "@"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!home.work().join(".lepo/_replacing.json").exists());
}

#[test]
fn what_was_begun_before_the_originals_went_is_completed_and_its_old_addresses_are_known() {
    let (home, token) = (keyed_home(), github_token(11));
    let question = home.add(&["--prev", "head"], &format!("is {token} valid?"));
    let before = home.bubbs();
    home.ok(&["rm", "-y", "--redact", &question]);
    let after = home.bubbs();
    std::fs::write(home.work().join(".lepo").join(&before[0]), format!("is {token} valid?")).unwrap();
    let replaced = json!({ "moved": [[before[0], after[0]]], "blobs": [] });
    home.write("work/.lepo/_replacing.json", record(&home, &home.work(), wish(&[&question]), replaced));
    let ran = home.alone(&["rm", "-y", "--redact", &question]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.starts_with("completed the interrupted `lepo rm --redact`\nno secret in "),
        "{}",
        ran.err
    );
    assert_eq!(home.bubbs(), after);
    assert!(!on_disk(&home).contains(&token));
}

#[test]
fn a_record_that_a_repository_brought_deletes_nothing() {
    let (home, token) = (keyed_home(), github_token(12));
    let question = home.add(&["--prev", "head"], &format!("is {token} valid?"));
    let file = home.bubbs().remove(0);
    home.write(".ssh/id", "a key");
    home.write("work/precious", "mine");
    home.write("elsewhere/.lepo/_insts.toml", "");
    let (here, elsewhere) = (home.work(), home.path().join("elsewhere"));
    let moved = |from: &str| json!({ "moved": [[from, file.replace("-u0-", "-a0-")]], "blobs": [] });
    let blobs = |blob: &str| json!({ "moved": [], "blobs": [blob] });
    let unproven = |replaced: Value| json!({ "wish": wish(&[]), "replaced": replaced }).to_string();
    let all = json!({ "all": true, "ids": [], "kinds": [], "replace": [] });
    for record in [
        unproven(blobs("../../precious")),
        unproven(blobs("../../../.ssh/id")),
        unproven(blobs("../_insts.toml")),
        unproven(moved("../precious")),
        unproven(moved(&file)),
        json!({ "wish": all, "replaced": null }).to_string(),
        json!({ "wish": wish(&[]), "replaced": moved(&file), "proof": "" }).to_string(),
        json!({ "wish": wish(&[]), "replaced": moved(&file), "proof": "0".repeat(64) }).to_string(),
        // Proven by this machine, for another store; and for this one, with a name that leads out of it.
        record(&home, &elsewhere, wish(&[]), moved(&file)),
        record(&home, &here, wish(&[]), blobs("../../precious")),
        record(&home, &here, wish(&[]), moved("../precious")),
        // What was proven is the whole record.
        record(&home, &here, wish(&[]), Value::Null).replace("null", &moved(&file).to_string()),
        "not JSON".to_string(),
    ] {
        home.write("work/.lepo/_replacing.json", &record);
        for args in [&["-y"][..], &["-n"], &["-y", "--all"], &["-y", question.as_str()]] {
            let ran = home.alone(&[&["rm", "--redact"], args].concat());
            assert!(
                ran.code == 5 && ran.err.contains(".lepo/_replacing.json"),
                "{record}: {} {}",
                ran.code,
                ran.err
            );
            assert!(ran.err.contains("hint: remove it, then give the same command again\n"), "{}", ran.err);
        }
        assert_eq!(home.read(".ssh/id") + &home.read("work/precious"), "a keymine", "{record}");
        assert!(here.join(".lepo/_insts.toml").exists() && on_disk(&home).contains(&token), "{record}");
        assert_eq!(home.read("work/.lepo/_replacing.json"), record);
    }
    std::fs::remove_file(here.join(".lepo/_replacing.json")).unwrap();
    home.ok(&["rm", "-y", "--redact", "--all"]);
    assert!(!on_disk(&home).contains(&token));
}

#[test]
fn killed_at_system_calls_the_same_command_completes_it() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("strace") || !has("python3") {
        crate::skip::skipped("strace", "scripts/faults needs strace and python3");
        return;
    }
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/faults"));
    command.args([
        "--changes",
        "--only",
        "kill-redact",
        "--every",
        "3",
        "--lepo",
        env!("CARGO_BIN_EXE_lepo"),
    ]);
    let ran = run(command, b"");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("points"), "{}", ran.out);
}

#[test]
fn what_cannot_be_read_stops_it_before_anything_changes() {
    let (home, token) = (open_home(), github_token(1));
    let hash = "a".repeat(64);
    let cut = home.add(&["--prev", "head"], &format!("$ cat x\n[9 bytes: _blobs/{hash}]"));
    let question = home.add(&["--kind", "a", "--prev", &cut], &format!("is {token} valid?"));
    let key = home.path().join("state/lepo/secrets-key");
    let lepo = home.work().join(".lepo");
    for (place, named) in [
        (lepo.join("_blobs").join(&hash), hash.as_str()),
        (lepo.join("_branches/main"), "_branches/main"),
        (lepo.join("_wire").join(format!("{question}.json")), "_wire/"),
        (key, "secrets-key"),
    ] {
        // A directory in the place of a file: no user can read it as one.
        let before = std::fs::read(&place).ok();
        let _ = std::fs::remove_file(&place);
        std::fs::create_dir_all(&place).unwrap();
        let ran = home.alone(&["rm", "-y", "--redact", &cut, &question]);
        assert!(ran.code == 5 && ran.err.contains("cannot read") && ran.err.contains(named), "{}", ran.err);
        assert_eq!(home.ok(&["resolve", &question]), format!("{question}\n"));
        assert!(on_disk(&home).contains(&token));
        std::fs::remove_dir(&place).unwrap();
        // The key, by which what was begun is known again.
        if let Some(before) = before {
            std::fs::write(&place, before).unwrap();
        }
    }
    home.ok(&["rm", "-y", "--redact", &cut, &question]);
    assert!(!on_disk(&home).contains(&token));
}

#[test]
fn what_the_user_typed_is_said_to_be_kept_wherever_it_is_kept() {
    let (secret, mode) =
        (crate::secrets::github_token(7), |mode: &str| format!("planner = \"off\"\nsecrets = \"{mode}\""));
    for (mode, is_said) in [(mode("mask"), true), (mode("off"), false)] {
        let bot = Bot::saying(&mode, &["one", "two"]);
        let home = &bot.home;
        let text = format!("say {secret}");
        home.write("bin/editor", format!("#!/bin/sh\necho '{text}' > \"$1\"\n"));
        let editor = home.path().join("bin/editor");
        std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let message = home.add(&[], "a message");
        for args in [
            &["title", "@", &text][..],
            &["edit", &message],
            &["do", "-q", "-n", "-S", &text, "q"],
            &["do", "-n", "-S", &text, "q"],
            &["prompt", "add", "mine", &text],
            &["rebase", &message, "--system", &text],
        ] {
            let mut command = home.command(args);
            command.env("EDITOR", &editor).env("VISUAL", &editor);
            let ran = run(command, b"");
            assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
            let is_reported = ran.err.contains(
                "has what looks like a secret (github-token); it is stored as typed. To remove it: lepo ",
            ) || ran.err.contains(
                "has what looks like a secret (1 github-token); it is stored as typed. To remove it: lepo ",
            );
            assert_eq!(is_reported, is_said && !args.contains(&"-q"), "{args:?}: {}", ran.err);
            assert!(!ran.err.contains(&secret), "{args:?}");
        }
    }
}
