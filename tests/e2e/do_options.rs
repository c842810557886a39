//! Where a question goes, by `--new`, `--tail`, `--retry`, and where it is kept; `--show-past` and `-a`.

use crate::bots::Bot;
use crate::disk::{bubbs, bubbs_in, forest, forest_of};
use crate::home::{Ran, run};
use crate::screen::Screen;
use crate::scripted::{Reply, openai_sse};

const OFF: &str = "planner = \"off\"";
const TWO: &str = "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D";

/// After two turns, `1. one` and `2. two`, the forest is [`TWO`].
fn after_two(more: &[&str]) -> Bot {
    let bot = Bot::saying(OFF, &[&["one", "two"], more].concat());
    bot.home.write("config/system_prompt.txt", "PROMPT");
    assert_eq!(bot.lepo(&["do", "1."]).out, "one\n");
    assert_eq!(bot.lepo(&["do", "2."]).out, "two\n");
    assert_eq!(forest(&bot.home), TWO);
    bot
}

fn id(bot: &Bot, at: usize) -> String {
    bubbs(&bot.home)[at].id.clone()
}

#[test]
fn each_option_puts_the_question_in_its_place() {
    for (args, grown) in [
        (&["do", "3."][..], " / F u0 E / G a0 F"),
        (&["do", "3.", "--new"], " / F s1 head / G u0 F / H a0 G"),
        (&["do", "-n", "3."], " / F s1 head / G u0 F / H a0 G"),
        (&["do", "--retry"], " / F a0 D"),
        (&["-r"], " / F a0 D"),
        (&["do", "-t", "@", "3."], " / F u0 E / G a0 F"),
        (&["do", "-t", "@^^", "3."], " / F u0 C / G a0 F"),
        (&["do", "3.", "--tail", "@~3"], " / F u0 B / G a0 F"),
        (&["-r", "-t", "@~2"], " / F a0 B"),
        (&["do", "--tail", "@~3", "--retry"], " / F a0 B"),
        (&["--retry", "--show-past", "--show-all"], " / F a0 D"),
        (&["do", "-npaq", "3."], " / F s1 head / G u0 F / H a0 G"),
    ] {
        let bot = after_two(&["three"]);
        let ran = bot.lepo(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        assert!(ran.out.ends_with("three\n"), "{args:?}: {}", ran.out);
        assert_eq!(forest(&bot.home), format!("{TWO}{grown}"), "{args:?}");
    }
}

#[test]
fn what_contradicts_itself_or_leads_nowhere_is_exit_2() {
    for args in [
        &["do", "--new", "--tail", "@", "q"][..],
        &["do", "--new", "--retry"],
        &["do", "--retry", "q"],
        &["do", "--retry", "--file", "q.md"],
        &["do", "--tail", "@~9", "q"],
        &["do", "--tail", "nosuchthing", "q"],
        &["do", "--tail", "", "q"],
        &["do", "--retry", "--tail", "@~4"],
        &["do", "--tools", "maybe", "q"],
        &["do", "-m", "nosuchmodel", "q"],
        &["do", "--nonsense", "q"],
        &["-c", "nosuchdir", "do", "q"],
    ] {
        let bot = after_two(&[]);
        bot.home.write("work/q.md", "q");
        let ran = bot.lepo(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.starts_with("error: "), "{args:?}: {}", ran.err);
        assert_eq!(forest(&bot.home), TWO, "{args:?}");
        assert_eq!(bot.times_asked(), 2);
    }
}

#[test]
fn a_retry_needs_a_question() {
    let bot = Bot::saying(OFF, &[]);
    for _ in 0..2 {
        let ran = bot.lepo(&["do", "--retry"]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("no question to answer again"), "{}", ran.err);
        bot.home.ok(&["init"]);
    }
}

#[test]
fn a_retry_reads_no_stdin() {
    let bot = after_two(&["three"]);
    assert_eq!(bot.home.lepo_with(&["do", "-r"], b"\xff not even text").out, "three\n");
}

#[test]
fn the_question_steps_back_over_what_an_unfinished_turn_left() {
    for (left, under) in [
        // A stopped answer stays.
        (&[("a", "half an answer")][..], "D"),
        (&[("a", r#"{"arguments":{},"name":"x"}"#), ("t", "it says")], "C"),
        (&[("s", r#"{"access":"read","command":"ls"}"#)], "C"),
        (&[("a", "words"), ("s", r#"{"access":"read","command":"ls"}"#)], "C"),
        // Not in its canonical form it is no request; a result is none either.
        (&[("s", r#"{"command":"ls"}"#)], "D"),
        (&[("s", r#"{"access":"read","command":"ls"}"#), ("s", "$ ls\nexit code: 0")], "E"),
    ] {
        let bot = Bot::saying(OFF, &["one", "two"]);
        assert_eq!(bot.lepo(&["do", "1."]).code, 0);
        for (kind, text) in left {
            bot.home.add(&["--kind", kind, "--hidden"], text);
        }
        assert_eq!(bot.lepo(&["do", "2."]).code, 0);
        let grown = forest(&bot.home);
        assert!(grown.contains(&format!(" u0 {under} / ")), "{left:?}: {grown}");
        let body = &bot.bodies()[1];
        assert_eq!(crate::bots::messages(body).iter().any(|(_, text)| text == left[0].1), under != "C");
    }
}

#[test]
fn an_explicit_tail_is_taken_as_it_is() {
    let bot = Bot::saying(OFF, &["one", "two"]);
    assert_eq!(bot.lepo(&["do", "1."]).code, 0);
    let half = bot.home.add(&["--kind", "a", "--hidden"], "half an answer");
    assert_eq!(bot.lepo(&["do", "--tail", &half, "2."]).code, 0);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D a1 C / E u0 D / F a0 E");
}

#[test]
fn a_branch_named_by_tail_moves_to_the_answer() {
    let bot = after_two(&["three", "four", "five"]);
    let branch = |name: &str| bot.home.read(&format!("work/.lepo/_branches/{name}")).trim().to_string();
    for name in ["main", "other"] {
        bot.home.write(&format!("work/.lepo/_branches/{name}"), format!("{}\n", id(&bot, 2)));
    }
    assert_eq!(bot.lepo(&["do", "--tail", "main", "3."]).out, "three\n");
    assert_eq!(forest(&bot.home), format!("{TWO} / F u0 C / G a0 F"));
    assert_eq!((branch("main"), branch("other")), (id(&bot, 6), id(&bot, 2)));
    // Retried, it moves to the new answer; by steps back from it, it does not move.
    assert_eq!(bot.lepo(&["do", "--tail", "main", "--retry"]).out, "four\n");
    assert_eq!(branch("main"), id(&bot, 7));
    assert_eq!(bot.lepo(&["do", "--tail", "main^", "5."]).out, "five\n");
    assert_eq!(branch("main"), id(&bot, 7));
}

#[test]
fn a_branch_that_moved_meanwhile_is_left() {
    use crate::scripted::{Piece, Reply, openai_sse, openai_stream};
    let slow = Reply::pieces([Piece::Wait, Piece::Bytes(openai_stream(["two"]).into_bytes())]);
    let bot = Bot::openai(OFF, [openai_sse(["one"]), slow]);
    assert_eq!(bot.lepo(&["do", "1."]).code, 0);
    let [question, answer] = [1, 2].map(|at| id(&bot, at));
    bot.home.write("work/.lepo/_branches/main", format!("{answer}\n"));
    let mut command = bot.home.command(&["do", "--tail", "main", "2.", "--no-stdin"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    bot.server().await_asked(2);
    bot.home.write("work/.lepo/_branches/main", format!("{question}\n"));
    bot.server().release();
    let ran = crate::home::finish(child);
    assert_eq!((ran.code, ran.out.as_str()), (0, "two\n"));
    assert_eq!(ran.err, "note: branch main has moved in the meantime and was left unchanged\n");
    assert_eq!(bot.home.read("work/.lepo/_branches/main").trim(), question);
}

#[test]
fn a_turn_that_fails_moves_no_branch() {
    let bot = after_two(&[]);
    let tip = id(&bot, 4);
    bot.home.write("work/.lepo/_branches/main", format!("{tip}\n"));
    assert_eq!(bot.lepo(&["do", "-t", "main", "3."]).code, 3);
    assert_eq!(bot.home.read("work/.lepo/_branches/main").trim(), tip);
}

#[test]
fn the_past_is_shown_first_hidden_bubbs_on_wish() {
    let shown =
        |bot: &Bot, at: usize, word: &str, text: &str| format!("# {word} {}\n{text}\n\n", id(bot, at));
    let bot = after_two(&["three", "four", "five"]);
    let past = [(1, "user", "1."), (2, "assistant", "one"), (3, "user", "2."), (4, "assistant", "two")]
        .map(|(at, word, text)| shown(&bot, at, word, text))
        .concat();
    let root = format!("# system {} hidden\nPROMPT\n\n", id(&bot, 0));
    assert_eq!(bot.lepo(&["do", "-p", "3."]).out, format!("{past}three\n"));
    let first = shown(&bot, 1, "user", "1.");
    assert_eq!(bot.lepo(&["do", "-p", "-a", "-r", "-t", &id(&bot, 1)]).out, format!("{root}{first}four\n"));
    // -a alone shows new ones as they are made, and nothing of the past.
    let ran = bot.lepo(&["do", "-a", "-n", "5."]);
    let new_root = bubbs(&bot.home).into_iter().rev().find(|bubb| bubb.prev == "head").unwrap();
    assert_eq!(ran.out, format!("# system {} hidden\nPROMPT\n\nfive\n", new_root.id));
}

#[test]
fn the_store_is_where_it_is_told_to_be() {
    let bot = after_two(&["three", "four", "five"]);
    std::fs::create_dir_all(bot.home.work().join("sub/deep")).unwrap();
    // From below, the store above is found; with --save-to another is made, here.
    assert_eq!(bot.lepo(&["-c", "sub/deep", "do", "3."]).out, "three\n");
    assert_eq!(forest(&bot.home), format!("{TWO} / F u0 E / G a0 F"));
    assert_eq!(bot.lepo(&["do", "4.", "-c", "sub", "-s", ".lepo/한글"]).out, "four\n");
    let other = bot.home.work().join("sub/.lepo/한글");
    assert_eq!(forest_of(&bubbs_in(&other)), "A s1 head / B u0 A / C a0 B");
    assert_eq!(bot.lepo(&["--cd=sub", "--save-to=.lepo/한글", "--retry"]).out, "five\n");
    assert_eq!(forest_of(&bubbs_in(&other)), "A s1 head / B u0 A / C a0 B / D a0 B");
    let ran = bot.lepo(&["-s", "../out", "do", "q"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[test]
fn words_that_are_no_command_are_a_question_behind_an_option_or_with_white_space() {
    for (args, stdin, asked) in [
        (&["-q", "hi"][..], "", "hi"),
        (&["-n", "-q", "안녕"], "", "안녕"),
        (&["Review it"], "diff\n", "Review it\n\ndiff"),
        (&["이 변경을 검토해 줘", "-q"], "", "이 변경을 검토해 줘"),
        (&["-m", "test", "ls", "files"], "", ""),
    ] {
        let bot = Bot::saying(OFF, &["ok"]);
        let ran = bot.home.lepo_with(args, stdin.as_bytes());
        match asked {
            // A command's name is the command: behind `-m NAME` too.
            "" => assert_ne!(ran.code, 0, "{args:?}: {}", ran.out),
            asked => {
                assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"), "{args:?}: {}", ran.err);
                assert_eq!(bubbs(&bot.home)[1].text, asked);
            }
        }
    }
    let home = crate::home::Home::new();
    let ran = home.lepo(&["hello"]);
    assert_eq!(ran.code, 2, "one word is a command: {}", ran.err);
}

#[test]
fn plain_lepo_is_do() {
    let bot = Bot::saying(OFF, &["one", "two"]);
    assert_eq!(bot.home.lepo_with(&[], b"1.").out, "one\n");
    assert_eq!(bot.home.lepo_with(&["--new", "-q"], b"2.").out, "two\n");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D s1 head / E u0 D / F a0 E");
}

#[test]
fn what_a_person_may_not_expect_is_said() {
    let bot = Bot::openai(
        OFF,
        [openai_sse(["one"]), Reply::new(401, "no"), openai_sse(["two"]), openai_sse(["three"])],
    );
    assert_eq!(bot.lepo(&["do", "first"]).err, "");
    bot.home.ok(&["branch", "main"]);
    let ran = bot.lepo(&["do", "--tail", "main", "second"]);
    assert!(ran.err.contains("`lepo do --tail main --retry` answers it"), "{}", ran.err);
    // A bubb that a wrong clock dated ahead is continued by name alone.
    let ahead = "7Z00000000000000000000000A";
    bot.home.write(&format!("work/.lepo/{ahead}-u0-head.md"), "from far ahead");
    assert_eq!(bot.lepo(&["do", "--tail", "main", "third"]).err, "");
    let ran = bot.lepo(&["do", "--tail", ahead, "fourth"]);
    let warning =
        format!("warning: {ahead} is dated more than a day ahead, and so is what follows it; `lepo rebase");
    assert!(ran.err.starts_with(&warning), "{}", ran.err);
}

/// Runs lepo in a shell that has this `LEPO_TAIL`.
fn in_shell(bot: &Bot, tail: &str, args: &[&str]) -> Ran {
    let mut command = bot.home.command(args);
    command.env("LEPO_TAIL", tail);
    run(command, b"")
}

#[test]
fn a_shell_has_a_tail_of_its_own() {
    let bot = Bot::saying(OFF, &["one", "two", "three", "four", "five", "six"]);
    let ran = in_shell(&bot, "main", &["do", "1."]);
    assert_eq!((ran.code, ran.err.contains("LEPO_TAIL")), (2, true), "no store: {}", ran.err);
    assert_eq!(bot.lepo(&["do", "1."]).code, 0);
    bot.home.ok(&["branch", "main"]);
    assert_eq!(bot.lepo(&["do", "-n", "2."]).code, 0);
    let ends = |end: &str| assert!(forest(&bot.home).ends_with(end), "{}", forest(&bot.home));
    // A branch moves along.
    for (question, answer) in [("3.", "three\n"), ("4.", "four\n")] {
        assert_eq!(in_shell(&bot, "main", &["do", question]).out, answer);
    }
    ends("D s1 head / E u0 D / F a0 E / G u0 C / H a0 G / I u0 H / J a0 I");
    assert_eq!(bot.home.ok(&["resolve", "main"]), bot.home.ok(&["resolve", "@"]));
    // -n and --tail win over it; an empty one is none.
    let second = &bubbs(&bot.home)[5].id.clone();
    assert_eq!(in_shell(&bot, "main", &["do", "--tail", second, "5."]).code, 0);
    ends("K u0 F / L a0 K");
    assert_eq!(in_shell(&bot, "main", &["do", "-n", "6."]).code, 0);
    ends("M s1 head / N u0 M / O a0 N");
    let ran = in_shell(&bot, "nosuchthing", &["do", "q"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("nosuchthing") && ran.err.contains("LEPO_TAIL names it"), "{}", ran.err);
    assert_eq!(bot.times_asked(), 6);
}

#[test]
fn a_question_that_failed_on_a_branch_is_answered_there() {
    let no = || Reply::new(400, "no");
    let said = |text: &str| openai_sse([text]);
    for by_default in [true, false] {
        let bot = Bot::openai(OFF, [said("one"), said("two"), no(), no(), said("three"), said("four"), no()]);
        let lepo = |args: &[&str]| match by_default {
            true => in_shell(&bot, "main", args),
            false => bot.lepo(&[&["-t", "main"], args].concat()),
        };
        bot.lepo(&["do", "1."]);
        bot.home.ok(&["branch", "main"]);
        bot.lepo(&["do", "-n", "2."]);
        let ran = lepo(&["--no-stdin", "Was it one?"]);
        assert!(ran.err.contains("`lepo do --tail main --retry` answers it"), "{}", ran.err);
        assert_eq!(lepo(&["--retry"]).code, 3, "it fails once more, and is kept once");
        assert_eq!(lepo(&["--retry"]).out, "three\n");
        assert!(forest(&bot.home).ends_with("F a0 E / G u0 C / H a0 G"), "{}", forest(&bot.home));
        assert_eq!(bot.home.ok(&["resolve", "main"]), bot.home.ok(&["resolve", "@"]));
        // The branch is at an answer and nothing waits behind it: that one is given anew.
        assert_eq!(lepo(&["--retry"]).out, "four\n");
        assert!(forest(&bot.home).ends_with("H a0 G / I a0 G"), "{}", forest(&bot.home));
        // Where no branch is named, the hint names the question.
        let second = bubbs(&bot.home)[5].id.clone();
        let ran = in_shell(&bot, &second, &["do", "5."]);
        let question = bubbs(&bot.home).pop().unwrap().id;
        assert!(ran.err.contains(&format!("`lepo do --tail {question} --retry`")), "{}", ran.err);
    }
}

#[test]
fn a_question_that_failed_on_a_branch_is_found_in_the_folder_of_its_day() {
    let bot = Bot::openai(
        OFF,
        [openai_sse(["one"]), openai_sse(["two"]), Reply::new(400, "no"), openai_sse(["ok"])],
    );
    bot.lepo(&["do", "1."]);
    bot.home.ok(&["branch", "main"]);
    bot.lepo(&["do", "-n", "2."]);
    assert_eq!(bot.lepo(&["do", "-t", "main", "3."]).code, 3);
    let question = bubbs(&bot.home).pop().unwrap().id;
    let when = bot.home.ok(&["ls", "-l", "-n", "1"]).split(' ').nth(2).unwrap().to_string();
    let day = when[..10].replacen('-', "/", 2).replacen('/', "-", 1);
    let moved = format!("mkdir -p .lepo/_old/{day} && mv .lepo/{question}-u0-*.md .lepo/_old/{day}/");
    assert!(bot.home.program("sh", &["-c", &moved]).status().unwrap().success());
    assert_eq!(bot.home.ok(&["fsck"]), "");
    let ran = bot.lepo(&["do", "-t", "main", "--retry"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"), "{}", ran.err);
    assert_eq!(bot.home.ok(&["resolve", "main^"]).trim(), question);
}

#[test]
fn a_session_begins_at_the_shells_tail() {
    let bot = Bot::saying(OFF, &["one", "two", "three"]);
    bot.lepo(&["do", "1."]);
    bot.home.ok(&["branch", "main"]);
    bot.lepo(&["do", "-n", "2."]);
    let mut command = bot.home.command(&[]);
    command.env("LEPO_TAIL", "main");
    let Some(screen) = Screen::of(&command, &bot.home, 80) else { return };
    screen.prompts("> ").enters("3.").shows("three").prompts("> ").enters("exit").ends(0);
    assert!(forest(&bot.home).ends_with("G u0 C / H a0 G"), "{}", forest(&bot.home));
    assert_eq!(bot.home.ok(&["resolve", "main"]), bot.home.ok(&["resolve", "@"]));
}
