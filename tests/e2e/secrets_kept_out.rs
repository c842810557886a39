//! Secrets stay out of the store: what a turn shows and sends is the truth, what it writes has masks.

use std::os::unix::fs::PermissionsExt;

use crate::bots::{Bot, messages};
use crate::disk::bubbs;
use crate::home::{Home, run};
use crate::scripted::{openai_calls, openai_sse};
use crate::secrets::{github_token, private_key};

const OFF: &str = "planner = \"off\"";

/// Everything in the store, without the names of files.
fn on_disk(home: &Home) -> String {
    let out = home.shell("cd .lepo && find . -type f ! -path './_wire/*' -exec cat {} +").output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn the_output_of_ones_own_command_is_masked_on_disk_and_sent_so() {
    let token = github_token(1);
    let bot = Bot::saying(OFF, &["Done.", "Again."]);
    let ran = bot.lepo(&["do", "--run", &format!("echo {token}; echo {token}"), "what is it?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    let line = "1 secret was masked in the output of a command (github-token)";
    assert_eq!(ran.err.matches(line).count(), 1, "{}", ran.err);
    let sent = messages(&bot.bodies()[0]);
    assert!(!sent.iter().any(|(_, text)| text.contains(&token)), "{sent:?}");
    let kept = on_disk(&bot.home);
    assert!(!kept.contains(&token) && kept.matches("[secret: github-token ").count() == 4, "{kept}");
    // A later turn sends the same.
    assert_eq!(bot.lepo(&["do", "and now?"]).code, 0);
    assert_eq!(messages(&bot.bodies()[1])[..sent.len() - 1], sent[..sent.len() - 1]);
    assert_eq!(bot.lepo(&["fsck", "--secrets"]).out, "");
    let key = std::fs::metadata(bot.home.path().join("state/lepo/secrets-key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_streamed_answer_is_shown_as_it_is_and_masked_on_disk() {
    let (token, key) = (github_token(2), private_key(30));
    let pieces = [
        "take ",
        token.split_at(3).0,
        token.split_at(3).1,
        " and ",
        key.split_at(40).0,
        key.split_at(40).1,
        " now",
    ];
    let whole = pieces.concat();
    for args in
        [&["do", "q"][..], &["do", "--json", "q"], &["do", "--events", "q"], &["do", "-o", "out", "q"]]
    {
        let bot = Bot::openai(OFF, [openai_sse(pieces)]);
        let ran = bot.lepo(args);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let shown = if args.contains(&"-o") { bot.home.read("work/out") } else { ran.out };
        let is_whole = shown.contains(&whole.replace('\n', "\\n")) || shown.contains(&whole);
        assert!(is_whole || args.contains(&"--events") && shown.contains(&token), "{args:?} {shown}");
        let message = if args.contains(&"--events") { &shown } else { &ran.err };
        assert!(
            message.contains("2 secrets were masked in the answer (github-token, private-key)"),
            "{message}"
        );
        let answer = bubbs(&bot.home).pop().unwrap().text;
        let masked = answer.starts_with("take [secret: github-token ") && answer.ends_with("] now");
        assert!(masked && answer.contains("] and [secret: private-key "), "{answer}");
    }
}

#[test]
fn the_users_own_words_are_kept_and_what_is_piped_is_not() {
    let (typed, piped) = (github_token(3), github_token(4));
    let bot = Bot::saying(OFF, &["Yes."]);
    let ran = bot.home.lepo_with(
        &["do", "--unmasked", &format!("is {typed} valid?")],
        format!("log: {piped}\n").as_bytes(),
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("your question has what looks like a secret (github-token); it is stored as typed"),
        "{}",
        ran.err
    );
    let kept = on_disk(&bot.home);
    assert!(kept.contains(&typed) && !kept.contains(&piped), "{kept}");
    let asked = messages(&bot.bodies()[0]);
    assert!(asked.iter().any(|(_, text)| text.contains(&typed) && text.contains(&piped)), "{asked:?}");
    let ran = bot.lepo(&["fsck", "--secrets"]);
    assert_eq!((ran.code, ran.out.lines().count()), (1, 1), "{}", ran.out);
    let question = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.contains(&typed)).unwrap().id;
    assert!(
        ran.out.starts_with(&format!("{question} github-token line ")) && !ran.out.contains(&typed),
        "{}",
        ran.out
    );
    let export = bot.lepo(&["export"]);
    assert!(
        export.out.contains(&typed) && export.err.contains("the output contains 1 secret (github-token)"),
        "{}",
        export.err
    );
}

#[test]
fn a_request_that_waits_runs_as_the_model_made_it() {
    let token = github_token(5);
    let call = format!(r#"{{"access":"full","command":"echo {token} > ran"}}"#);
    let calls = || openai_calls("", &[("run_command", call.as_str())]);
    let bot = Bot::openai("planner = \"native\"", [calls(), openai_sse(["Done."]), calls()]);
    let ran = bot.home.alone(&["do", "say it"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let id = bubbs(&bot.home).pop().unwrap().id;
    let kept = on_disk(&bot.home);
    assert!(!kept.contains(&token) && kept.contains("echo [secret: github-token "), "{kept}");
    let kept = bot.home.work().join(format!(".lepo/_wire/{id}.json"));
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(bot.lepo(&["fsck", "--secrets"]).code, 0);
    let ran = bot.home.alone(&["do", "--approve", &id]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(bot.home.read("work/ran"), format!("{token}\n"));
    assert!(!kept.exists() && !on_disk(&bot.home).contains(&token));
    // The file that keeps it is changed: nothing runs.
    assert_eq!(bot.home.alone(&["do", "-n", "once more"]).code, 4);
    let id = bubbs(&bot.home).pop().unwrap().id;
    let kept = format!("work/.lepo/_wire/{id}.json");
    let truth = bot.home.read(&kept);
    bot.home.write(&kept, truth.replace("> ran", "> other"));
    let ran = bot.home.alone(&["do", "--approve", &id]);
    assert!(ran.code == 2 && ran.err.contains("was changed"), "{} {}", ran.code, ran.err);
    std::fs::remove_file(bot.home.path().join(&kept)).unwrap();
    let ran = bot.home.alone(&["do", "--approve", &id]);
    assert!(ran.code == 2 && ran.err.contains("is not on this machine"), "{} {}", ran.code, ran.err);
    assert!(!bot.home.work().join("other").exists());
}

#[test]
fn a_long_output_is_masked_in_its_blob() {
    let token = github_token(6);
    let bot = Bot::saying(&format!("{OFF}\noutput_limit = 1000"), &["Done."]);
    let command = format!("seq 400; echo {token}; seq 400");
    assert_eq!(bot.lepo(&["do", "--run", &command, "what is it?"]).code, 0);
    let kept = on_disk(&bot.home);
    // Command, and the blob of its output.
    assert!(!kept.contains(&token) && kept.matches("[secret: github-token ").count() == 2, "{kept}");
    assert_eq!(bot.lepo(&["fsck"]).out, "");
}

#[test]
fn secrets_are_masked_told_or_left_alone_as_the_setting_says() {
    let token = github_token(7);
    for (setting, is_kept, told) in [
        (
            "secrets = \"warn\"",
            true,
            "1 secret was found, and kept, in the output of a command (github-token)",
        ),
        ("secrets = \"off\"", true, ""),
        ("", false, "1 secret was masked"),
    ] {
        let bot = Bot::saying(&format!("{OFF}\n{setting}"), &["Done."]);
        let ran = bot.lepo(&["do", "--run", &format!("echo {token}"), "what is it?"]);
        assert_eq!((ran.code, on_disk(&bot.home).contains(&token)), (0, is_kept), "{setting} {}", ran.err);
        assert!(ran.err.contains(told) && (ran.err.contains("secret was") != told.is_empty()), "{}", ran.err);
    }
}

#[test]
fn a_repository_does_not_set_it() {
    let home = Home::new();
    home.add(&["--prev", "head"], "x");
    home.write("work/.lepo/_config.toml", "secrets = \"off\"\n");
    let ran = run(home.detached(&["trust"]), b"y\n");
    let refused = ran.code == 2 && ran.err.contains("`secrets` is not allowed in a repository's file");
    assert!(refused, "{} {}", ran.out, ran.err);
}

#[test]
fn values_of_variables_and_configured_keys_are_masked_whatever_their_shape() {
    let bot = Bot::saying(&format!("{OFF}\n"), &["the pass is Tr0ub4dor, not canary-key-1"]);
    let config = bot
        .home
        .read("config/config.toml")
        .replace("model = \"m\"", "model = \"m\"\napi_key = \"canary-key-1\"");
    bot.home.write("config/config.toml", config);
    let mut command = bot.home.command(&["do", "q"]);
    command.env("DB_PASSWORD", "Tr0ub4dor").env("NICE_KEY", "/usr/bin/env").env("OTHER_TOKEN", "onlyletters");
    let ran = run(command, b"");
    assert_eq!((ran.code, ran.out.as_str()), (0, "the pass is Tr0ub4dor, not canary-key-1\n"), "{}", ran.err);
    assert!(ran.err.contains("2 secrets were masked in the answer (config-key, env-value)"), "{}", ran.err);
    let answer = bubbs(&bot.home).pop().unwrap().text;
    assert!(
        answer.starts_with("the pass is [secret: env-value ") && answer.contains("not [secret: config-key "),
        "{answer}"
    );
}

#[test]
fn a_commit_of_a_store_with_a_secret_is_refused_by_the_hook() {
    let home = Home::with_config("secrets = \"off\"");
    home.write(".gitconfig", "[user]\n\temail = me@x\n\tname = x\n");
    assert!(home.shell("git init -q && mkdir -p .git/hooks").status().unwrap().success());
    let hook = concat!(env!("CARGO_MANIFEST_DIR"), "/contrib/hooks/pre-commit");
    std::fs::copy(hook, home.work().join(".git/hooks/pre-commit")).unwrap();
    home.add(&["--prev", "head"], "harmless");
    // A store is committed where its .gitignore is taken out.
    let commit = || run(home.shell("rm -f .lepo/.gitignore; git add -A && git commit -qm x"), b"");
    let ran = commit();
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let id = home.add(&["--prev", "head"], &github_token(8));
    let ran = commit();
    assert!(ran.code != 0 && ran.err.contains(&format!("{id} github-token line 1")), "{}", ran.err);
}

#[test]
fn what_many_models_are_asked_and_say_is_masked_too() {
    let (token, said) = (github_token(9), github_token(10));
    let bot = Bot::openai(OFF, [openai_sse([said.as_str()]), openai_sse([said.as_str()])]);
    let more = bot.home.read("config/config.toml");
    let second = more
        .split_once("[[models]]")
        .unwrap()
        .1
        .replace("\"test\"", "\"other\"")
        .replace("active = true\n", "");
    bot.home.write("config/config.toml", format!("{more}\n[[models]]{second}"));
    let ran = bot.lepo(&[
        "do",
        "--parallel",
        "--participants",
        "test,other",
        "--unmasked",
        "--run",
        &format!("echo {token}"),
        "q",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let kept = on_disk(&bot.home);
    assert!(!kept.contains(&token) && !kept.contains(&said), "{kept}");
    assert!(messages(&bot.bodies()[0]).iter().any(|(_, text)| text.contains(&token)));
    assert!(ran.err.contains("2 secrets were masked in "), "{}", ran.err);
    assert_eq!(ran.out.matches(&said).count(), 2, "stdout has the truth: {}", ran.out);
    for args in [&["--json"][..], &["--events"], &["-o", "out"]] {
        let more = Bot::openai(OFF, [openai_sse([said.as_str()]), openai_sse([said.as_str()])]);
        more.home.write(
            "config/config.toml",
            more.home.read("config/config.toml")
                + "\n[[models]]"
                + &second.replace(&bot.server().url(), &more.server().url()),
        );
        let ran = more.lepo(&[&["do", "--parallel", "--participants", "test,other", "q"], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let shown = if args.contains(&"-o") { more.home.read("work/out") } else { ran.out };
        assert!(shown.matches(&said).count() >= 2, "{args:?}: {shown}");
        assert!(!shown.contains("[secret: ") && !on_disk(&more.home).contains(&said), "{args:?}: {shown}");
    }
}

#[test]
fn a_value_that_json_escapes_is_masked_in_a_request_and_the_request_runs() {
    let value = "Hunter\"2\\of\tmine";
    let call =
        serde_json::json!({ "access": "full", "command": format!("printf %s '{value}' > ran") }).to_string();
    let bot = Bot::openai(
        "planner = \"native\"",
        [openai_calls("", &[("run_command", call.as_str())]), openai_sse(["Done."])],
    );
    let lepo = |args: &[&str]| {
        let mut command = bot.home.detached(args);
        command.env("PLAIN_SECRET", value);
        run(command, b"")
    };
    assert_eq!(lepo(&["do", "say it"]).code, 4);
    let request = bubbs(&bot.home).pop().unwrap();
    assert!(
        request.text.contains("'[secret: env-value ") && !request.text.contains("Hunter"),
        "{}",
        request.text
    );
    let ran = lepo(&["do", "--approve", &request.id]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bot.home.read("work/ran"), value);
}

#[test]
fn a_request_whose_words_look_like_a_mask_can_be_approved() {
    for setting in ["", "\nsecrets = \"off\"", "\nsecrets = \"warn\""] {
        let token = github_token(11);
        let call =
            format!(r#"{{"access":"full","command":"echo '[secret: github-token 3f1a]' {token} > ran"}}"#);
        let bot = Bot::openai(
            &format!("planner = \"native\"{setting}"),
            [openai_calls("", &[("run_command", call.as_str())]), openai_sse(["Done."])],
        );
        assert_eq!(bot.home.alone(&["do", "say it"]).code, 4);
        let id = bubbs(&bot.home).pop().unwrap().id;
        let ran = bot.home.alone(&["do", "--approve", &id]);
        assert_eq!(ran.code, 0, "{setting} {}", ran.err);
        assert_eq!(bot.home.read("work/ran"), format!("[secret: github-token 3f1a] {token}\n"));
    }
}

#[test]
fn what_is_kept_of_a_request_goes_when_the_conversation_goes_past_it() {
    let token = github_token(12);
    let call = format!(r#"{{"access":"full","command":"echo {token}"}}"#);
    let calls = || openai_calls("", &[("run_command", call.as_str())]);
    let bot = Bot::openai("planner = \"native\"", [calls(), openai_sse(["So."]), calls()]);
    let kept = || std::fs::read_dir(bot.home.work().join(".lepo/_wire")).unwrap().count();
    assert_eq!(bot.home.alone(&["do", "say it"]).code, 4);
    assert_eq!(kept(), 1);
    let ran = bot.home.alone(&["do", "another way"]);
    assert!(ran.code == 0 && ran.err.contains("was dropped"), "{}", ran.err);
    assert_eq!(kept(), 0);
    // A request that still waits is kept, also when another conversation begins.
    assert_eq!(bot.home.alone(&["do", "-n", "once more"]).code, 4);
    assert_eq!(kept(), 1);
}

#[test]
fn colours_bad_bytes_and_zeros_around_a_secret_hide_none() {
    let token = github_token(7);
    for command in [
        format!("printf '\\033[01;31m\\033[K{token}\\033[m'"),
        format!("printf '{{\"k\":\"\\\\u0022{token}\\\\u0022\"}}'"),
        format!("printf '{token}Zend'"),
        format!("printf 'a\\377b {token}\\n'"),
        format!("yes line | head -c 40000; printf '\\377\\n{token}\\n'; yes x | head -c 40000"),
        "env -0".to_string(),
    ] {
        let bot = Bot::saying(OFF, &["Done."]);
        let mut lepo = bot.home.command(&["do", "--run", &command, "what is it?"]);
        let value = "Hunter2Hunter2XX";
        lepo.env("PLAIN_SECRET", value);
        let ran = run(lepo, b"");
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
        let kept = on_disk(&bot.home);
        assert!(!kept.contains(&token[..token.len() - 1]) || command == "env -0", "{command}");
        assert!(!kept.contains(value), "{command}");
        assert!(kept.contains("[secret: "), "{command}: {kept}");
        assert_eq!(bot.lepo(&["fsck", "--secrets"]).out, "", "{command}");
    }
}

#[test]
fn other_words_of_a_rebase_and_the_log_are_masked_too() {
    let token = github_token(8);
    let bot = Bot::saying(OFF, &["Done."]);
    assert_eq!(bot.lepo(&["do", "q"]).code, 0);
    bot.home.write("work/words", format!("the token is {token}"));
    let ran = bot.lepo(&["rebase", "@", "--replace", "@=words"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("1 secret was masked in a file (github-token)"), "{}", ran.err);
    assert!(!on_disk(&bot.home).contains(&token));
    let mut lepo = bot.home.command(&["do", "--tools", "off", "q"]);
    let value = "Hunter2Hunter2XX";
    lepo.env("PLAIN_SECRET", value).env("LEPO_LOG_LEVEL", "debug");
    let ran = run(lepo, format!("it is {value}").as_bytes());
    assert_eq!(ran.code, 3, "the model says nothing more: {}", ran.err);
    let logs = bot.home.shell("cat $XDG_STATE_HOME/lepo/logs/*").output().unwrap();
    let logs = String::from_utf8_lossy(&logs.stdout);
    assert!(!logs.contains(value) && logs.contains("[secret: env-value"), "{logs}");
}

#[test]
fn fsck_finds_a_secret_among_bytes_that_are_no_text_and_the_id_of_a_key() {
    let home = Home::new();
    home.ok(&["init"]);
    let (token, id) = (github_token(9), crate::secrets::aws_id());
    let text = [b"line\n".repeat(20).as_slice(), b"\xff\0", token.as_bytes(), b" ", id.as_bytes()].concat();
    std::fs::write(home.work().join(".lepo/note"), text).unwrap();
    let ran = home.lepo(&["fsck", "--secrets"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("note github-token line 21\n") && ran.out.contains("note aws-"), "{}", ran.out);
}

#[test]
fn what_comes_with_a_question_is_sent_as_each_later_turn_sends_it_unless_it_is_asked_for() {
    let (token, typed) = (github_token(5), github_token(6));
    for (way, args, stdin) in [
        ("--file", &["--file", "secret.txt"][..], ""),
        ("--context", &["--context", "secret.txt"], ""),
        ("--run", &["--run", "cat secret.txt"], ""),
        ("stdin", &[], "secret.txt"),
    ] {
        let bot = Bot::openai(OFF, (0..4).map(|_| openai_sse(["Yes."])));
        bot.home.write("work/secret.txt", format!("token: {token}\n"));
        let ask = |more: &[&str]| {
            let question = format!("is {typed} it?");
            let all = [&["do"], more, args, &[&question]].concat();
            let ran = match stdin {
                "" => bot.home.alone(&all),
                file => bot.home.lepo_with(&all, bot.home.read(&format!("work/{file}")).as_bytes()),
            };
            assert_eq!(ran.code, 0, "{way}: {}", ran.err);
            ran.err
        };
        let sent = |at: usize| bot.bodies()[at]["messages"].to_string();
        let printed = ask(&["-n"]);
        assert!(printed.contains(", and sent so: --unmasked sends the text"), "{way}: {printed}");
        assert!(!sent(0).contains(&token) && sent(0).contains("[secret: github-token"), "{way}");
        assert!(sent(0).contains(&typed), "{way}: what a person typed stays as typed");
        assert_eq!(bot.home.alone(&["do", "and?"]).code, 0);
        let last = messages(&bot.bodies()[0]);
        let same = last.len() - usize::from(way == "--run");
        assert_eq!(messages(&bot.bodies()[1])[..same], last[..same], "{way}");
        let output = ask(&["-n", "--unmasked"]);
        assert!(sent(2).contains(&token) && !output.contains("--unmasked sends"), "{way}: {output}");
        assert_eq!(bot.home.alone(&["do", "and?"]).code, 0);
        assert!(!sent(3).contains(&token), "{way}: once");
    }
}
