//! `lepo do` as it is used every day: where its store is made, short options, code alone, a reader that left.

use std::io::Read;
use std::process::Stdio;

use serde_json::json;

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest, spools};
use crate::home::{Home, finish, run, until};
use crate::pty::on_terminal;
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, end, openai_sse, openai_stream, said};

const OFF: &str = "planner = \"off\"";

/// Makes a git repository of a folder.
fn repository(home: &Home, folder: &str) {
    let made = home.shell(&format!("mkdir -p {folder} && git init -q {folder}")).status().unwrap();
    assert!(made.success());
}

/// The last question that a model was asked.
fn question(bot: &Bot) -> String {
    let bodies = bot.bodies();
    let mut users = messages(bodies.last().unwrap()).into_iter().filter(|(role, _)| role == "user");
    users.next_back().unwrap().1
}

#[test]
fn in_a_git_worktree_the_store_is_made_at_its_root() {
    let bot = Bot::saying(OFF, &["A1", "A2", "A3", "A4"]);
    repository(&bot.home, "tree");
    bot.home.shell("mkdir -p tree/a/b plain").status().unwrap();
    let root = bot.home.work().join("tree");
    let first = run(bot.home.shell("cd tree/a/b && lepo do one"), b"");
    assert_eq!(first.made, format!("made .lepo in {}\n", root.canonicalize().unwrap().display()));
    assert!(root.join(".lepo").is_dir() && !root.join("a/b/.lepo").exists());
    // Once; and it is found from below.
    let second = run(bot.home.shell("cd tree/a && lepo do two && lepo root && lepo ls --paths"), b"");
    assert_eq!(second.made, "");
    assert!(second.out.contains("../.lepo/"), "{}", second.out);
    // Elsewhere it is made where the user stands, and -q says nothing.
    let quiet = run(bot.home.shell("cd plain && lepo do -q three"), b"");
    assert_eq!((quiet.code, quiet.err + &quiet.made), (0, String::new()));
    assert!(bot.home.work().join("plain/.lepo").is_dir());
    let here = run(bot.home.shell("cd tree/a && lepo init && ls -d .lepo"), b"");
    assert!(here.out.contains(".lepo"), "{}", here.err);
}

#[test]
fn the_search_for_a_store_ends_at_the_root_of_the_worktree() {
    let bot = Bot::saying(OFF, &["A1", "A2"]);
    bot.home.add(&["--prev", "head"], "outside");
    repository(&bot.home, "tree");
    let ran = run(bot.home.shell("cd tree && lepo ls"), b"");
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("no .lepo here"), "{}", ran.err);
    assert_eq!(run(bot.home.shell("cd tree && lepo do one"), b"").code, 0);
    assert!(bot.home.work().join("tree/.lepo").is_dir());
    // An empty .git is no repository.
    bot.home.shell("mkdir -p x/.git").status().unwrap();
    assert!(run(bot.home.shell("cd x && lepo ls"), b"").out.contains("outside"));
}

#[test]
fn a_worktree_of_another_user_counts_only_where_git_takes_it() {
    let home = Home::new();
    if !rustix::process::geteuid().is_root() {
        crate::skip::skipped("another user's files", "not root");
        return;
    }
    home.add(&["--prev", "head"], "outside");
    repository(&home, "tree");
    home.shell("chown -R 12345 tree").status().unwrap();
    let ls = || run(home.shell("cd tree && lepo ls"), b"");
    assert!(ls().out.contains("outside"), "{}", ls().err);
    home.write(".gitconfig", "[safe]\n\tdirectory = *\n");
    assert_eq!(ls().code, 1, "{}", ls().out);
}

#[test]
fn a_reader_that_left_ends_the_turn_after_a_while_and_the_part_is_kept() {
    let answer = || Reply::pieces([said("one\ntwo "), Piece::Wait, said("three"), end()]);
    // It waits some seconds for another reader: both at once.
    let ends = |args: &[&str], shows: usize| {
        let bot = Bot::openai(OFF, [answer()]);
        let mut command = bot.home.command(args);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut byte = [0; 1];
        if shows > 0 {
            out.read_exact(&mut byte).unwrap();
        }
        bot.server().await_asked(1);
        drop(out);
        let ran = finish(child);
        assert_eq!((ran.code, ran.err.contains("error")), (0, false), "{args:?}: {}", ran.err);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B");
        assert_eq!(bubbs(&bot.home)[2].text, "one\ntwo ");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| ends(&["do", "q"], 1));
        ends(&["do", "-q", "q"], 0);
    });
    // Where it is written to a file too, it goes on to the end.
    let bot = Bot::openai(OFF, [answer()]);
    let mut command = bot.home.command(&["do", "q", "-o", "out"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    bot.server().await_asked(1);
    bot.server().release();
    assert_eq!(finish(child).code, 0);
    assert_eq!(bot.home.read("work/out"), "one\ntwo three\n");
}

#[test]
fn code_alone_is_printed() {
    let text = "So:\n\n```sh\nls -l\n```\n\nor\n\n```\ndate\n```\nDone.";
    let bot = Bot::saying(OFF, &[text, text, "no code", text]);
    assert_eq!(bot.lepo(&["-nx", "list"]).out, "ls -l\n");
    assert_eq!(bot.lepo(&["do", "-xx", "list"]).out, "ls -l\n\ndate\n");
    let none = bot.lepo(&["do", "--code", "list"]);
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    assert!(none.err.contains("no code block"), "{}", none.err);
    // The whole answer is kept.
    assert_eq!(bubbs(&bot.home)[3].text, text);
    // Each request has it before each question.
    assert_eq!(question(&bot), "list");
    assert_eq!(bot.bodies()[2].to_string().matches("code only").count(), 3);
    let ran = bot.lepo(&["do", "-x", "-o", "list.sh", "list"]);
    assert_eq!((ran.out.as_str(), bot.home.read("work/list.sh").as_str()), ("ls -l\n", "ls -l\n"));
    assert_eq!(bot.lepo(&["do", "-x", "--json", "q"]).code, 2);
}

#[test]
fn the_last_answer_and_its_code_are_printed_later_too() {
    let text = "So:\n\n```sh\nls -l\n```\n\nor\n\n```\ndate\n```\nDone.";
    let bot = Bot::saying(OFF, &[text]);
    bot.lepo(&["do", "list"]);
    assert_eq!(bot.home.ok(&["show", "-1"]), text);
    assert_eq!(bot.home.ok(&["show", "-x"]), "ls -l\n");
    assert_eq!(bot.home.ok(&["show", "-xx"]), "ls -l\n\ndate\n");
    let none = bot.lepo(&["show", "-x", "@^"]);
    assert_eq!((none.code, none.out.as_str()), (1, ""), "{}", none.err);
    assert!(none.err.contains("no code block"), "{}", none.err);
    assert_eq!(bot.lepo(&["show", "-x", "--one"]).code, 2);
}

#[test]
fn on_a_terminal_an_empty_pipe_is_said() {
    let bot = Bot::saying(OFF, &["Fine.", "Fine.", "Fine."]);
    let told =
        |script: &str| on_terminal(bot.home.terminal(script), &[]).out.contains("nothing came on stdin");
    assert!(told("true | lepo -n 'Review this.'"));
    assert!(!told("echo diff | lepo -n 'Review this.'"));
    assert!(!told("lepo -n 'Review this.' < /dev/null"));
}

#[test]
fn a_schema_has_a_short_form() {
    let fits = r#"{"name":"Kim","age":3,"tags":["a"]}"#;
    let bot = Bot::saying(OFF, &[fits, r#"{"name":"Kim"}"#, r#"{"name":"Kim"}"#]);
    let ran = bot.lepo(&["do", "--schema", "name, age int, tags [str]", "who?"]);
    assert_eq!((ran.code, ran.out.trim()), (0, fits), "{}", ran.err);
    assert!(bot.bodies()[0].to_string().contains("additionalProperties"));
    assert_eq!(bot.lepo(&["do", "--schema", "name, age int", "who?"]).code, 3);
    // A file of that name wins.
    bot.home.write("work/a b", "{\"type\":\"nonsense\"}");
    assert_eq!(bot.lepo(&["do", "--schema", "a b", "who?"]).code, 2);
    let wrong = bot.lepo(&["do", "--schema", "name float", "who?"]);
    assert!(wrong.code == 2 && wrong.err.contains("unknown type \"float\""), "{}", wrong.err);
}

#[test]
fn short_options_and_names_of_files() {
    let bot = Bot::saying(OFF, &["ok"; 6]);
    bot.home.write("work/x.gif", b"GIF89a\x01\0\x01\0\0\0\0\0\0\0");
    bot.home.write("work/x.rs", "fn x() {}\n");
    bot.home.write("work/q.md", "What is this?\n");
    assert_eq!(bot.lepo(&["-n", "-S", "Be kind.", "-C", "x.rs", "-A", "x.gif", "why?"]).code, 0);
    assert!(bot.bodies()[0].to_string().contains("data:image/gif"));
    assert_eq!(bubbs(&bot.home)[0].text, "Be kind.");
    for (files, asked) in [
        (&["-f", "x.rs"][..], "why?\n\nx.rs:\n```\nfn x() {}\n```"),
        (&["-f", "q.md"], "why?\n\nWhat is this?"),
        (
            &["-f", "q.md", "-f", "x.rs"],
            "why?\n\nq.md:\n```\nWhat is this?\n```\n\nx.rs:\n```\nfn x() {}\n```",
        ),
    ] {
        assert_eq!(bot.lepo(&[&["do", "-n", "why?"], files].concat()).code, 0);
        assert_eq!(question(&bot), asked, "{files:?}");
    }
}

#[test]
fn words_are_no_store() {
    let home = Home::new();
    let ran = home.lepo(&["-s", "Answer in Korean.", "do", "q"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("-S sets the system prompt"), "{}", ran.err);
    assert!(!home.work().join("Answer in Korean.").exists());
    home.ok(&["-s", "./my store", "init"]);
    home.ok(&["-s", "my store", "add", "--help"]);
    assert_eq!(home.lepo_with(&["-s", "my store", "add", "--prev", "head"], b"q").code, 0);
}

#[test]
fn folders_tell_their_tokens_and_half_a_window_is_asked_about() {
    let bot = Bot::saying(OFF, &["ok", "ok", "ok"]);
    let config = bot.home.read("config/config.toml");
    bot.home.write("config/config.toml", format!("{config}context = 1000\n"));
    bot.home.write("work/small/a.txt", "a".repeat(1200));
    bot.home.write("work/large/a.txt", "a".repeat(2400));
    let small = bot.home.alone(&["do", "-C", "small", "q"]);
    assert_eq!(small.code, 0, "{}", small.err);
    assert!(small.err.contains("note: 1 file in small, about 300 tokens"), "{}", small.err);
    let large = bot.home.alone(&["do", "-C", "large", "q"]);
    assert_eq!(large.code, 2, "{}", large.err);
    assert!(large.err.contains("about 600 tokens, and the model's window 1,000"), "{}", large.err);
    assert!(large.err.contains("--yes"), "{}", large.err);
    assert_eq!(bot.times_asked(), 1);
    assert_eq!(bot.home.alone(&["do", "--yes", "-C", "large", "q"]).code, 0);
    let Some(screen) = Screen::lepo(&bot.home, 100, &["do", "-C", "large", "q"]) else { return };
    screen.shows("send them? (y/N)").enters("y").shows("ok").ends(0);
}

#[test]
fn many_tokens_are_asked_about_where_the_window_is_not_known() {
    let bot = Bot::saying(OFF, &["ok", "ok", "ok", "ok"]);
    bot.home.write("work/fits.txt", "a".repeat(200_000));
    bot.home.write("work/big.txt", "a".repeat(200_004));
    bot.home.write("work/folder/a.txt", "a".repeat(200_004));
    for option in ["-f", "-C"] {
        assert_eq!(bot.home.alone(&["do", option, "fits.txt", "q"]).code, 0);
        for path in ["big.txt", "folder"] {
            let ran = bot.home.alone(&["do", option, path, "q"]);
            assert_eq!(ran.code, 2, "{option} {path}: {}", ran.err);
            assert!(
                ran.err.contains("about 50,001 tokens, and the model's window is not known"),
                "{}",
                ran.err
            );
            assert!(ran.err.contains("--yes"), "{}", ran.err);
        }
    }
    assert_eq!(bot.home.alone(&["do", "--parallel", "-m", "test", "-f", "big.txt", "q"]).code, 2);
    assert_eq!(bot.times_asked(), 2);
    assert_eq!(bot.home.alone(&["do", "--yes", "-f", "big.txt", "q"]).code, 0);
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.prompts("> ").enters("read @big.txt please").shows("Send the files?").enters("n");
    screen.shows("nothing was sent").prompts("> ");
    screen.enters("read @big.txt please").shows("Send the files?").enters("y").shows("ok").prompts("> ");
    screen.enters("exit").ends(0);
}

#[test]
fn an_address_in_the_environment_needs_no_key() {
    let bot = Bot::saying("", &["ok"]);
    let home = Home::new();
    let mut command = home.command(&["do", "--tools", "off", "q"]);
    command.env("OPENAI_BASE_URL", bot.server().url());
    let ran = run(command, b"");
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"), "{}", ran.err);
}

#[test]
fn words_without_a_command_are_told_how_to_be_asked() {
    let home = Home::new();
    let ran = home.lepo_with(&["shew"], b"text");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("did you mean `lepo show`?"), "{}", ran.err);
    assert!(ran.err.contains("to ask a model about what is piped: lepo do shew"), "{}", ran.err);
    assert!(home.lepo_with(&["review"], b"text").err.contains("lepo do review"));
    let ran = home.lepo(&["what", "is", "this", "--json"]);
    assert!(ran.err.contains("to ask a model: lepo do 'what is this'\n"), "{}", ran.err);
    let ran = on_terminal(home.command(&["hello"]), &[]);
    assert!(ran.out.contains("`lepo help`? to ask a model: lepo do hello"), "{}", ran.out);
}

#[test]
fn the_line_about_an_answer_breaks_between_words() {
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 1234567, "completion_tokens": 7654321 } });
    let events = openai_stream(["A1"]);
    let done = "data: [DONE]\n\n";
    let reply = Reply::new(200, events.replace(done, &format!("data: {usage}\n\n{done}")));
    let bot = Bot::openai(OFF, [reply]);
    let Some(screen) = Screen::lepo(&bot.home, 25, &["do", "q"]) else { return };
    screen.shows("A1").ends(0);
    let shown = screen.text();
    assert!(shown.contains("1,234,567") && shown.contains("7,654,321"), "{shown}");
}

#[test]
fn stopped_answers_to_one_question_are_told_apart() {
    let half = |text: &str| Reply::pieces([said(text), Piece::Wait, end()]);
    let bot = Bot::openai(OFF, [half("first half "), half("second half "), openai_sse(["whole"])]);
    for (args, text, asked) in [(&["do", "why?"][..], "first", 1), (&["do", "--retry"], "second", 2)] {
        let mut command = bot.home.command(args);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        bot.server().await_asked(asked);
        until(&format!("{text} came"), || spools(&bot.home).iter().any(|(_, part)| part.contains(text)));
        bot.home.shell(&format!("kill -INT {}", child.id())).status().unwrap();
        assert_eq!(finish(child).code, 130);
    }
    let Some(screen) = Screen::lepo(&bot.home, 120, &["ls"]) else { return };
    screen.shows("(stopped) first half").shows("(stopped) second half");
}

#[test]
fn no_address_on_stdin_is_no_success() {
    let home = Home::new();
    home.add(&["--prev", "head"], "q");
    for args in [&["show", "-"][..], &["log", "-"], &["ls", "-"], &["resolve", "-"], &["show", "--one", "-"]]
    {
        let ran = home.lepo(args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}");
        assert!(ran.err.contains("no address came on stdin"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn what_is_typed_while_an_answer_comes_is_not_echoed_and_the_shell_has_it() {
    let bot = Bot::openai(OFF, [Reply::pieces([said("처음 "), Piece::Wait, said("끝."), end()])]);
    let Some(screen) = Screen::shell(&bot.home, 80) else { return };
    screen.shows("sh$").enters("lepo do q").shows("\n처음").enters("echo 미리-$((6 * 7))");
    bot.server().release();
    screen.shows("처음 끝.\n").shows("\n미리-42");
    assert_eq!(screen.whole().matches("echo 미리").count(), 1, "{}", screen.whole());
    // The terminal is as it was.
    assert!(screen.enters("stty -a | grep -o '[-]*echo '").prompts("sh$ ").whole().contains("\necho"));
}

#[test]
fn a_conversation_without_its_beginning_is_continued_with_a_warning() {
    let bot = Bot::saying(OFF, &["One.", "Two.", "Three."]);
    for question in ["a", "b"] {
        bot.home.ok(&["do", question]);
    }
    let first = bot.home.bubbs().into_iter().find(|name| name.contains("-u0-")).unwrap();
    std::fs::remove_file(bot.home.work().join(".lepo").join(&first)).unwrap();
    let ran = bot.home.lepo(&["do", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains(&format!("message {} not found: incomplete conversation", &first[..26])),
        "{}",
        ran.err
    );
    let quiet = bot.home.lepo(&["do", "-q", "d"]);
    assert!(!quiet.err.contains("incomplete"), "{}", quiet.err);
}
