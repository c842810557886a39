//! The parts of a question: words, file, stdin and context; and an error where there is none.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::run;

const OFF: &str = "planner = \"off\"";

/// The question as it stands on disk.
fn question(bot: &Bot) -> String {
    bubbs(&bot.home).into_iter().rev().find(|bubb| bubb.tag == "u0").unwrap().text
}

#[test]
fn its_parts_are_joined_by_blank_lines() {
    let files: [(&str, &str); 3] =
        [("q.md", "from file\n\n"), ("a.rs", "fn a() {}\n"), ("한글.md", "```\nx\n```\n")];
    for (args, stdin, expected) in [
        (&["one", "two"][..], "", "one two"),
        (&["one  two"], "", "one  two"),
        (&["--file", "q.md"], "", "from file"),
        (&[], "from stdin\r\n\n", "from stdin"),
        (&["words", "--file", "q.md"], "stdin\n", "words\n\nfrom file\n\nstdin"),
        (&["words", "--no-stdin"], "stdin\n", "words"),
        (&["-"], "stdin\n", "stdin"),
        (&["-", "--file", "q.md"], "stdin\n", "stdin\n\nfrom file"),
        (&["words", "-"], "stdin\n", "words -\n\nstdin"),
        (&["words", "--file", "-"], "stdin\n", "words\n\nstdin"),
        (&["-f", "-", "-f", "q.md"], "in\n", "stdin:\n```\nin\n```\n\nq.md:\n```\nfrom file\n```"),
        (&["--context", "a.rs", "words"], "stdin", "words\n\nstdin\n\na.rs:\n```\nfn a() {}\n```"),
        (
            &["words", "--context", "a.rs", "--context", "한글.md"],
            "",
            "words\n\na.rs:\n```\nfn a() {}\n```\n\n한글.md:\n````\n```\nx\n```\n````",
        ),
        (&["--", "--not-an-option"], "", "--not-an-option"),
        (&["  질문\t있어요  "], "", "  질문\t있어요  "),
    ] {
        let bot = Bot::saying(OFF, &["ok"]);
        files.iter().for_each(|(name, text)| bot.home.write(&format!("work/{name}"), text));
        let ran = bot.home.lepo_with(&[&["do"], args].concat(), stdin.as_bytes());
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        assert_eq!(question(&bot), expected, "{args:?}");
    }
}

#[test]
fn folders_and_several_files_are_fenced_under_their_names() {
    let bot = Bot::saying(OFF, &["ok", "ok"]);
    for (name, text) in [
        ("q.md", "which?"),
        ("src/a.rs", "fn a() {}\n"),
        ("src/deep/한글.txt", "각"),
        ("src/.hidden", "x"),
        ("src/out.bin", "\0"),
        ("b.txt", "b"),
    ] {
        bot.home.write(&format!("work/{name}"), text);
    }
    std::os::unix::fs::symlink("a.rs", bot.home.work().join("src/link")).unwrap();
    let ran = bot.lepo(&["do", "-f", "q.md", "-f", "b.txt", "--context", "src"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let src = "src/a.rs:\n```\nfn a() {}\n```\n\nsrc/deep/한글.txt:\n```\n각\n```";
    assert_eq!(question(&bot), format!("q.md:\n```\nwhich?\n```\n\nb.txt:\n```\nb\n```\n\n{src}"));
    let left_out = "note: 2 files in src, about 4 tokens; skipped: 1 link (src/link), 1 not text (src/out.bin), 1 hidden\n";
    assert!(ran.err.contains(left_out), "{}", ran.err);
    // One file is the question itself; a folder never is.
    let ran = bot.lepo(&["do", "-q", "-f", "src", "words"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(question(&bot), format!("words\n\n{src}"));
}

#[test]
fn words_that_are_not_utf8_are_told_with_their_offset() {
    use std::os::unix::ffi::OsStringExt;
    let bot = Bot::saying(OFF, &["ok"]);
    let mut command = bot.home.command(&["do", "--no-stdin"]);
    command.arg(std::ffi::OsString::from_vec(b"caf\xe9?".to_vec()));
    let ran = run(command, b"");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("PROMPT is not UTF-8: byte 3 begins no character"), "{}", ran.err);
    assert_eq!(bot.times_asked(), 0);
}

#[test]
fn options_without_the_one_they_belong_to_are_refused() {
    let bot = Bot::saying(OFF, &["ok"]);
    for (args, said) in [
        (&["--unheld", "x"][..], "--unheld"),
        (&["--keep", "1", "-n", "x"], "--keep"),
        (&["--arg", "a=b", "-r"], "--arg"),
        (&["--run", "", "x"], "--run"),
        (&["--run", " \t", "x"], "it is blank"),
        (&["-f", "-", "-f", "-"], "only once"),
        (&["-", "-f", "-"], "only once"),
    ] {
        let ran = bot.lepo(&[&["do"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(said), "{args:?} {}", ran.err);
    }
    assert_eq!(bot.times_asked(), 0);
}

#[test]
fn a_name_within_a_note_is_one_line() {
    let bot = Bot::saying(OFF, &["ok"]);
    bot.home.write("work/src/a.rs", "fn a() {}\n");
    bot.home.write("work/src/x\nerror: run this\u{1b}[2J.md", "\0");
    let ran = bot.lepo(&["do", "--context", "src", "why?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("1 not text (src/x␊error: run this␛[2J.md)"), "{}", ran.err);
    assert!(!ran.err.contains('\u{1b}') && !ran.err.contains("\nerror"), "{}", ran.err);
}

#[test]
fn what_has_no_end_is_refused() {
    let bot = Bot::saying(OFF, &["ok"]);
    std::os::unix::fs::symlink("/dev/zero", bot.home.work().join("zero")).unwrap();
    let large = std::fs::File::create(bot.home.work().join("large")).unwrap();
    large.set_len(20 << 30).unwrap();
    for (option, name) in [
        ("--file", "zero"),
        ("--context", "zero"),
        ("--attach", "zero"),
        ("--schema", "zero"),
        ("--system", "@zero"),
        ("--file", "large"),
        ("--schema", "large"),
        ("--system", "@large"),
    ] {
        let ran = bot.lepo(&["do", "x", option, name]);
        let says = if name.ends_with("zero") { "it is a device" } else { "is larger than 64 MiB" };
        assert!(ran.code == 2 && ran.err.contains(says), "{option} {name}: {}", ran.err);
    }
    let ran = crate::home::finish(
        bot.home
            .command(&["do", "x"])
            .stdin(std::fs::File::open("/dev/zero").unwrap())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap(),
    );
    assert!(ran.code == 2 && ran.err.contains("stdin is larger than 256 MiB"), "{}", ran.err);
    assert!(!bot.home.work().join(".lepo").exists());
}

#[test]
fn a_bad_one_is_exit_2_and_writes_nothing() {
    for (args, stdin, says) in [
        (&["do"][..], &b""[..], "the question is blank: stdin was empty\n"),
        (&["do", ""], b"", "the question is blank"),
        (&[""], b"", "the question is blank"),
        (&["-q", ""], b"", "the question is blank"),
        (&["do", " \t", "--context", "ok.md"], b"\n\n", "the question is blank"),
        (&["do", "--no-stdin"], b"ignored", "the question is blank\n"),
        (&["do", "--file", "empty.md"], b"", "the question is blank"),
        (&["do"], b"ab\xffcd", "stdin is not UTF-8: byte 2"),
        (&["do", "x", "--file", "latin1.md"], b"", "latin1.md is not UTF-8: byte 3"),
        (&["do", "x", "--context", "latin1.md"], b"", "latin1.md is not UTF-8: byte 3"),
        (&["do", "x", "--file", "none.md"], b"", "cannot read none.md"),
        (&["do", "x", "--context", "empty"], b"", "no text to send in empty"),
        (&[], b"", "the question is blank: stdin was empty\n"),
        (&["-n"], b"\n", "the question is blank: stdin was empty\n"),
    ] {
        let bot = Bot::saying(OFF, &["ok"]);
        std::fs::create_dir(bot.home.work().join("empty")).unwrap();
        bot.home.write("work/empty.md", "\n");
        bot.home.write("work/ok.md", "fine");
        bot.home.write("work/latin1.md", b"caf\xe9");
        let ran = bot.home.lepo_with(args, stdin);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
        assert!(!bot.home.work().join(".lepo").exists(), "{args:?} made a store");
        assert_eq!(bot.times_asked(), 0);
    }
}

#[test]
fn words_that_are_not_utf8_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let bot = Bot::saying(OFF, &["ok"]);
    let mut command = bot.home.command(&["do"]);
    command.arg(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    assert_eq!(crate::home::run(command, b"").code, 2);
    assert!(!bot.home.work().join(".lepo").exists());
}

#[test]
fn a_stdin_that_stays_open_is_told_of() {
    let bot = Bot::saying(OFF, &["ok"]);
    let mut command = bot.home.command(&["do", "words"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    err.read_line(&mut line).unwrap();
    assert!(line.contains("waiting for the end of stdin") && line.contains("--no-stdin"), "{line}");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"more").unwrap();
    drop(stdin);
    assert_eq!(crate::home::finish(child).code, 0);
    assert_eq!(question(&bot), "words\n\nmore");
}

#[test]
fn without_stdin_a_loop_over_lines_sees_all_its_lines() {
    let bot = Bot::saying(OFF, &["1", "2", "3"]);
    let script = "while read q; do lepo do --no-stdin \"$q\"; done";
    let ran = crate::home::run(bot.home.shell(script), b"a\nb\nc\n");
    assert_eq!(ran.out, "1\n2\n3\n", "{}", ran.err);
}

#[test]
fn a_word_that_no_command_can_be_is_a_question() {
    let bot = Bot::saying(OFF, &["Hello."; 3]);
    for word in ["Why?", "안녕", "물어보자"] {
        assert_eq!(bot.home.ok(&[word]), "Hello.\n", "{word}");
    }
    // A program in PATH comes first, and a misspelt command is none.
    bot.home.write_program("bin/lepo-안녕", "#!/bin/sh\necho program\n");
    let mut lepo = bot.home.command(&["안녕"]);
    lepo.env("PATH", format!("{}:/usr/bin:/bin", bot.home.path().join("bin").display()));
    assert_eq!(run(lepo, b"").out, "program\n");
    // `ㅣㄴ` are the keys of `ls`.
    for word in ["whyy", "ls,", "a=b", "ㅣㄴ"] {
        let mistyped = bot.home.lepo(&[word]);
        assert!(mistyped.code == 2 && mistyped.err.contains("unknown command"), "{word}: {}", mistyped.err);
    }
}
