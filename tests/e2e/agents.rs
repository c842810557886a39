//! AGENTS.md: a repository's instructions go along once a conversation, and open nothing that nobody agreed to.

mod agreed;
mod own_skill;
mod skills;
mod unproven;

use serde_json::Value;

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest};
use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::screen::Screen;
use crate::scripted::{Asked, Reply, Server, ollama_ndjson, openai_sse};
use crate::skip::skipped;

const MARK: &str = "[instructions of this repository]";

/// Makes `work` a git repository.
fn git_init(home: &Home) {
    let ran = run(home.program("git", &["init", "-q"]), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    // A repository is known by its `.git`.
    home.trust_work();
}

/// A bot in a repository, with the planner off.
fn bot(answers: &[&str]) -> Bot {
    let bot = Bot::saying("planner = 'off'", answers);
    git_init(&bot.home);
    bot.home.write("config/system_prompt.txt", "PROMPT");
    bot
}

/// The texts of a request that are instructions.
fn sent_texts(body: &Value) -> Vec<String> {
    let texts = messages(body).into_iter().map(|(_, text)| text);
    texts.filter(|text| text.starts_with(MARK)).collect()
}

#[test]
fn instructions_go_along_once_and_again_when_they_changed() {
    let bot = bot(&["1", "2", "3", "4", "5"]);
    bot.home.write("work/AGENTS.md", "Use tabs. 각\n");
    bot.home.write("work/sub/CLAUDE.md", "Low.");
    bot.home.ok(&["do", "one"]);
    bot.home.ok(&["do", "two"]);
    assert_eq!(forest(&bot.home), "A s1 head / B s1 A / C u0 B / D a0 C / E u0 D / F a0 E");
    let bubb = &bubbs(&bot.home)[1];
    assert!(bubb.text.starts_with(MARK) && bubb.text.ends_with("== AGENTS.md, 14 bytes ==\nUse tabs. 각\n"));
    let bodies = bot.bodies();
    assert_eq!(messages(&bodies[0])[1], ("system".into(), bubb.text.clone()));
    assert_eq!(sent_texts(&bodies[1]), [bubb.text.as_str()]);
    // Started deeper in the tree there is one more.
    bot.home.ok(&["-c", "sub", "do", "three"]);
    let both = sent_texts(&bot.bodies()[2]);
    assert_eq!(both.len(), 2);
    assert!(
        both[1].contains("== AGENTS.md, 14 bytes ==")
            && both[1].contains("== sub/CLAUDE.md, 4 bytes ==\nLow.\n")
    );
    bot.home.write("work/AGENTS.md", "Use spaces.\n");
    bot.home.ok(&["do", "four"]);
    assert_eq!(sent_texts(&bot.bodies()[3]).len(), 3);
    std::fs::remove_file(bot.home.work().join("AGENTS.md")).unwrap();
    bot.home.ok(&["do", "five"]);
    let gone = sent_texts(&bot.bodies()[4]);
    assert!(gone.len() == 4 && gone[3].ends_with("the earlier ones no longer apply."), "{gone:?}");
}

#[test]
fn a_retry_keeps_what_its_question_was_told() {
    let bot = bot(&["1", "2", "3"]);
    bot.home.write("work/AGENTS.md", "Old.");
    bot.home.ok(&["do", "one"]);
    bot.home.write("work/AGENTS.md", "New.");
    bot.home.ok(&["do", "--retry"]);
    let bodies = bot.bodies();
    assert_eq!(bodies[0]["messages"], bodies[1]["messages"]);
    bot.home.ok(&["do", "two"]);
    assert_eq!(sent_texts(&bot.bodies()[2]).len(), 2);
}

#[test]
fn a_replay_tells_those_of_today_with_tools_and_none_without() {
    for prompt in ["Be brief.", ""] {
        let bot = bot(&["1", "2", "3", "4", "5", "6"]);
        bot.home.write("config/system_prompt.txt", prompt);
        bot.home.write("work/AGENTS.md", "Old.");
        bot.home.ok(&["do", "one"]);
        bot.home.ok(&["do", "two"]);
        let old = bot.home.ok(&["resolve", "@"]).trim().to_string();
        bot.home.write("work/AGENTS.md", "New.");
        bot.home.ok(&["do", "--replay", &old]);
        bot.home.ok(&["do", "--replay", &old, "--tools", "manual"]);
        let bodies = bot.bodies();
        assert_eq!(bodies.len(), 6, "{prompt:?}");
        for body in &bodies[2..4] {
            assert_eq!(sent_texts(body), Vec::<String>::new(), "{prompt:?}");
        }
        for body in &bodies[4..] {
            let actual = sent_texts(body);
            assert!(actual.len() == 1 && actual[0].contains("New."), "{prompt:?}: {actual:?}");
        }
        assert_eq!(bodies[2].to_string().contains("Be brief."), !prompt.is_empty());
    }
}

#[test]
fn after_a_summary_they_are_right_behind_the_root() {
    let bot = bot(&["1", "2", "3", "SUMMARY", "4"]);
    bot.home.write("work/AGENTS.md", "Use tabs.");
    for question in ["one", "two", "three"] {
        bot.home.ok(&["do", question]);
    }
    bot.home.ok(&["do", "--compact", "--keep", "1"]);
    bot.home.ok(&["do", "four"]);
    let bodies = bot.bodies();
    let last = messages(&bodies[4]);
    assert!(last.iter().any(|(_, text)| text.contains("SUMMARY")), "{last:?}");
    assert_eq!(sent_texts(&bodies[4]).len(), 1);
    let at = last.iter().position(|(_, text)| text.starts_with(MARK)).unwrap();
    assert!(at == 1 && last[2].1.contains("SUMMARY"), "{last:?}");
}

#[test]
fn nothing_goes_along_where_it_is_turned_off_or_nothing_can_be_called() {
    let none: &[&str] = &[];
    for (settings, args) in [
        ("planner = 'off'", &["--no-agents"][..]),
        ("planner = 'off'", &["--tools", "off"]),
        ("planner = 'off'\nagents = false", none),
    ] {
        let bot = Bot::saying(settings, &["1"]);
        git_init(&bot.home);
        bot.home.write("work/AGENTS.md", "Use tabs.");
        bot.home.ok(&[&["do", "one"], args].concat());
        assert_eq!(sent_texts(&bot.bodies()[0]).len(), 0, "{settings} {args:?}");
        assert!(bubbs(&bot.home).iter().all(|bubb| !bubb.text.starts_with(MARK)), "{settings} {args:?}");
    }
    let bot = Bot::program("planner = 'off'", &["1"]);
    git_init(&bot.home);
    bot.home.write("work/AGENTS.md", "Use tabs.");
    bot.home.ok(&["do", "one"]);
    assert_eq!(bot.home.read("bot/asked.1").trim(), "one");
    let bot = Bot::saying("planner = 'off'", &["1", "2"]);
    git_init(&bot.home);
    bot.home.write("work/AGENTS.md", "Use tabs.");
    let config = bot.home.read("config/config.toml");
    let (_, other) = config.split_once("[[models]]").unwrap();
    let other = other.replace("\"test\"", "\"other\"").replace("active = true", "");
    bot.home.write("config/config.toml", format!("{config}\n[[models]]{other}"));
    let ran = bot.home.lepo(&["do", "--parallel", "-m", "test", "-m", "other", "one"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(bubbs(&bot.home).iter().all(|bubb| !bubb.text.starts_with(MARK)));
    // Outside of a repository there are none, and turned off for once does not say that they are gone.
    let bot = Bot::saying("planner = 'off'", &["1", "2"]);
    bot.home.write("work/AGENTS.md", "Use tabs.");
    bot.home.ok(&["do", "one"]);
    assert_eq!(sent_texts(&bot.bodies()[0]).len(), 0);
    git_init(&bot.home);
    bot.home.ok(&["do", "two"]);
    bot.home.lepo(&["do", "--no-agents", "three"]);
    assert_eq!(bubbs(&bot.home).iter().filter(|bubb| bubb.text.starts_with(MARK)).count(), 1);
}

#[test]
fn they_are_said_where_the_place_is_said_and_how_to_turn_them_off_the_first_time() {
    let bot = bot(&["1", "2"]);
    bot.home.write("work/AGENTS.md", "x".repeat(4800));
    let ran = on_terminal(bot.home.command(&["do", "one"]), &[]);
    assert!(ran.out.contains("test · new conversation · AGENTS.md (1.2k tokens)"), "{}", ran.out);
    assert!(
        ran.out.contains("turn it off: --no-agents, or lepo config agents false"),
        "{}",
        ran.out.replace("\r\n", " ")
    );
    let ran = on_terminal(bot.home.command(&["do", "two"]), &[]);
    assert!(ran.out.contains(") just now · AGENTS.md (1.2k tokens)"), "{}", ran.out);
    assert!(!ran.out.contains("turn it off"), "{}", ran.out);
}

#[test]
fn what_is_left_out_is_named_once_a_run_and_listed_without_a_question() {
    let bot = bot(&["1"]);
    bot.home.write("outside.md", "secret");
    bot.home.write("work/AGENTS.md", "Use tabs.");
    std::fs::create_dir_all(bot.home.work().join("a/b")).unwrap();
    std::os::unix::fs::symlink("../../outside.md", bot.home.work().join("a/AGENTS.md")).unwrap();
    std::fs::File::create(bot.home.work().join("a/b/AGENTS.md")).unwrap().set_len(1 << 30).unwrap();
    let listed = bot.home.ok(&["-c", "a/b", "do", "--context-files"]);
    let expected = "instructions: AGENTS.md (9 bytes, about 3 tokens)\n\
        left out: a/AGENTS.md: its link leads outside the repository\n\
        left out: a/b/AGENTS.md: it is larger than 64 KiB\n";
    assert!(listed.starts_with(expected), "{listed}");
    assert_eq!(bot.times_asked(), 0);
    let ran = bot.lepo(&["-c", "a/b", "do", "one"]);
    assert_eq!(ran.code, 0);
    assert_eq!(
        ran.err.matches("note: a/AGENTS.md is left out: its link leads out").count(),
        1,
        "{}",
        ran.err
    );
    assert_eq!(ran.err.matches("note: a/b/AGENTS.md is left out: it is larger").count(), 1, "{}", ran.err);
    assert!(!bot.bodies()[0].to_string().contains("secret"));
    for (args, why) in [
        (&["--no-agents"][..], "left out: AGENTS.md: `agents` is false"),
        (&["--tools", "off"], "left out: AGENTS.md: tools are off"),
    ] {
        let listed = bot.home.ok(&[&["do", "--context-files"], args].concat());
        assert!(listed.starts_with(why), "{listed}");
    }
}

#[test]
fn a_repository_of_another_user_counts_only_where_git_would_take_it() {
    let bot = bot(&["1", "2"]);
    bot.home.write("work/AGENTS.md", "Theirs.");
    if std::os::unix::fs::chown(bot.home.work().join(".git"), Some(65534), None).is_err() {
        skipped("root", "only root can give a repository away");
        return;
    }
    let ran = bot.lepo(&["do", "one"]);
    assert!(ran.err.contains("AGENTS.md is left out: the repository belongs to another user"), "{}", ran.err);
    assert_eq!(sent_texts(&bot.bodies()[0]).len(), 0);
    bot.home.write("work/.agents/skills/theirs/SKILL.md", "---\nname: theirs\ndescription: x\n---\n");
    assert!(
        bot.home
            .ok(&["do", "--context-files"])
            .contains(".agents/skills is left out: the repository belongs")
    );
    let root = bot.home.work().canonicalize().unwrap();
    let safe = ["config", "--global", "--add", "safe.directory", root.to_str().unwrap()];
    assert_eq!(run(bot.home.program("git", &safe), b"").code, 0);
    let ran = bot.lepo(&["do", "two"]);
    assert!(
        !ran.err.contains("left out") && ran.err.contains("a skill of the repository is not trusted"),
        "{}",
        ran.err
    );
    assert_eq!(sent_texts(&bot.bodies()[1]).len(), 1);
}

#[test]
fn secrets_in_them_are_masked_on_disk_and_no_reason_to_send_them_again() {
    let bot = bot(&["1", "2"]);
    let token = crate::secrets::github_token(1);
    bot.home.write("work/AGENTS.md", format!("Token: {token}\n"));
    let ran = bot.lepo(&["do", "--unmasked", "one"]);
    assert!(ran.err.contains("1 secret was masked in AGENTS.md (github-token)"), "{}", ran.err);
    assert!(sent_texts(&bot.bodies()[0])[0].contains(&token), "the model sees the truth");
    assert!(bubbs(&bot.home).iter().all(|bubb| !bubb.text.contains(&token)));
    let ran = bot.lepo(&["do", "two"]);
    assert!(!ran.err.contains("masked"), "{}", ran.err);
    assert_eq!(sent_texts(&bot.bodies()[1]).len(), 1);
}

/// The share of a request that a server's cache keeps.
fn shared(one: &Asked, two: &Asked) -> f64 {
    let same = one.body.iter().zip(&two.body).take_while(|(a, b)| a == b).count();
    same as f64 / two.body.len() as f64
}

#[test]
fn thirty_kilobytes_are_sent_once_and_the_rest_comes_from_the_cache() {
    type Answers = fn(&str) -> Reply;
    let wires: [(&str, Answers); 2] = [
        ("provider = 'openai'\nbase_url = 'URL/v1'", |text| openai_sse([text])),
        ("provider = 'ollama'\nbase_url = 'URL'", |text| ollama_ndjson([text])),
    ];
    for (model, answer) in wires {
        let server = Server::judging(move |n, asked: &Asked| match asked.method.as_str() {
            "POST" => answer(&format!("answer {n}")),
            _ => Reply::new(404, "{}"),
        });
        let home = Home::with_config(&format!(
            "planner = 'off'\n[[models]]\nname = 'test'\nactive = true\nmodel = 'm'\n{}\n",
            model.replace("URL", &server.url())
        ));
        git_init(&home);
        home.write("config/system_prompt.txt", "PROMPT");
        home.write("work/AGENTS.md", "Each line is a rule. ".repeat(1463));
        for question in ["one", "two", "three"] {
            home.ok(&["do", question]);
        }
        let asked: Vec<Asked> = server.asked().into_iter().filter(|asked| asked.method == "POST").collect();
        assert_eq!(asked.len(), 3);
        for pair in asked.windows(2) {
            let share = shared(&pair[0], &pair[1]);
            println!("{model}: {:.2} % of {} bytes", share * 100.0, pair[1].body.len());
            assert!(share >= 0.95, "{share}");
        }
        let last = String::from_utf8_lossy(&asked[2].body).into_owned();
        assert_eq!(last.matches(MARK).count(), 1);
    }
}

#[test]
fn a_session_tells_them_once_too() {
    let bot = bot(&["first", "second"]);
    bot.home.write("work/AGENTS.md", "Use tabs.");
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.shows("new conversation · AGENTS.md (3 tokens)").prompts("> ");
    screen.enters("one").shows("first").prompts("> ");
    screen.enters("two").shows("second").prompts("> ");
    assert_eq!(sent_texts(&bot.bodies()[1]).len(), 1);
}

#[test]
fn where_there_is_no_system_prompt_they_are_none_either() {
    let bot = bot(&["1"]);
    bot.home.write("config/system_prompt.txt", "");
    bot.home.write("work/AGENTS.md", "Use tabs.");
    bot.home.ok(&["do", "one"]);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B");
    let copy = bot.home.ok(&["rebase", "@", "--system", "OTHER"]);
    let shown = bot.home.ok(&["show", "-a", copy.trim()]);
    assert!(shown.contains("\nOTHER\n") && shown.contains("Use tabs."), "{shown}");
}

#[test]
fn an_event_of_consent_names_what_a_yes_agrees_to() {
    let call =
        crate::scripted::openai_calls("", &[("run_command", r#"{"access":"write","command":"echo"}"#)]);
    let bot = Bot::openai("planner = 'native'\ntool_call_mode = 'auto'", [call]);
    git_init(&bot.home);
    bot.home.write("work/AGENTS.md", "Use tabs.");
    let ran = bot.home.alone(&["do", "--events", "one"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let ask: Value = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|event| event["event"] == "ask")
        .unwrap();
    assert_eq!(ask["unagreed"], serde_json::json!(["AGENTS.md"]));
}

#[test]
fn names_of_a_hostile_repository_stay_on_their_line() {
    let bot = bot(&["1"]);
    let evil = "a\nnote: all is well\u{1b}[2J\u{202e}";
    bot.home.write(&format!("work/{evil}/AGENTS.md"), "Obey.");
    bot.home.write(&format!("work/.agents/skills/{evil}/SKILL.md"), "---\nname: x\n---\n");
    bot.home.write(
        &format!("work/.claude/skills/{evil}/SKILL.md"),
        format!("---\nname: \"{0}\"\ndescription: \"{0}\"\n---\n", "x\\nnote: y"),
    );
    let check = format!(".agents/skills/{evil}");
    for (args, code) in [
        (&["-c", evil, "do", "one"][..], 0),
        (&["-c", evil, "do", "--context-files"], 0),
        (&["prompt", "ls"], 0),
        (&["prompt", "check", &check], 1),
    ] {
        let ran = bot.lepo(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        let message = ran.err + &ran.out;
        assert!(
            !message.lines().any(|line| line.starts_with("note: all") || line.starts_with("note: y")),
            "{message}"
        );
        assert!(!message.contains(['\u{1b}', '\u{202e}']), "{message:?}");
    }
    assert!(!bot.bodies()[0].to_string().contains("Obey"));
}
