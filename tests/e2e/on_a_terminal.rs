//! Lists as a terminal shows them: short ids, questions counted, a heading a conversation; pipes as ever.

use crate::bots::Bot;
use crate::home::{Home, run, until};
use crate::pty::on_mute_terminal;
use crate::screen::Screen;

/// Text of a terminal, without paint.
fn shown(home: &Home, args: &[&str]) -> String {
    let mut command = home.terminal(&format!("stty cols 80 rows 24; lepo {}", args.join(" ")));
    command.env("NO_COLOR", "1").env("LEPO_PAGER", "cat");
    let ran = run(command, b"");
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.out);
    ran.out.replace('\r', "")
}

#[test]
fn ids_are_short_on_a_terminal_and_whole_in_pipes_and_long_lists() {
    let home = Home::new();
    let first = home.add(&["--prev", "head"], "What is a leap year?");
    home.add(&["--kind", "a"], "One with 366 days.");
    let last = home.add(&[], "And a leap second?");
    let (short, short_first) = (&last[18..], &first[18..]);
    let listed = shown(&home, &["ls"]);
    assert!(listed.starts_with(&format!("{short} 2 questions ")), "{listed}");
    assert!(!listed.contains(&last), "{listed}");
    assert!(shown(&home, &["ls", "-l"]).starts_with(&last));
    assert!(home.ok(&["ls"]).starts_with(&format!("{last} (3): ")));
    let log = shown(&home, &["log"]);
    assert!(log.contains(&format!("{short_first} u0 ")) && !log.contains(&first), "{log}");
    assert!(home.ok(&["log"]).contains(&format!("{first} u0 ")));
    // Each command takes them.
    assert_eq!(home.ok(&["resolve", short]), format!("{last}\n"));
    assert!(home.ok(&["show", short_first]).contains("leap year"));
    assert_eq!(home.lepo(&["do", "--approve", short]).code, 2);
}

#[test]
fn headings_of_show_diff_and_branch_have_short_ids_too() {
    let home = Home::new();
    let question = home.add(&["--prev", "head"], "Which?");
    let [one, other] = ["one", "other"].map(|text| home.add(&["--kind", "a", "--prev", &question], text));
    home.ok(&["branch", "plan-b", &one]);
    let shown_of = |args: &[&str], code: i32| {
        let mut command = home.terminal(&format!("stty cols 80 rows 24; lepo {}", args.join(" ")));
        command.env("NO_COLOR", "1").env("LEPO_PAGER", "cat");
        let ran = run(command, b"");
        assert_eq!(ran.code, code, "{args:?}: {}", ran.out);
        ran.out.replace('\r', "")
    };
    let short = |id: &str| id[18..].to_string();
    for (args, code, begin, id) in [
        (vec!["show", &one], 0, format!("# user {}", short(&question)), &question),
        (
            vec!["diff", &one, &other],
            1,
            format!("--- assistant {}\n+++ assistant {}", short(&one), short(&other)),
            &one,
        ),
        (
            vec!["diff", "--stat", &one, &other],
            1,
            format!("+1 -1 assistant {} {}", short(&one), short(&other)),
            &one,
        ),
        (vec!["branch"], 0, format!("plan-b {} (2): Which?", short(&one)), &one),
    ] {
        let shown = shown_of(&args, code);
        assert!(shown.starts_with(&begin) && !shown.contains(id.as_str()), "{args:?}: {shown}");
        let piped = home.lepo(&args).out;
        assert!(piped.contains(id.as_str()), "{args:?}: {piped}");
    }
}

#[test]
fn watch_shows_short_ids_on_a_terminal() {
    let home = Home::new();
    home.ok(&["init"]);
    let Some(screen) = Screen::sized(&home.command(&["watch"]), &home, (80, 24)) else { return };
    let mut ids = Vec::new();
    // A message that is written before it watches is not told.
    until("a line", || {
        ids.push(home.add(&[], "What is it?"));
        screen.text().contains(" u0 What is it?")
    });
    let text = screen.text();
    assert!(ids.iter().any(|id| text.contains(&format!("{} u0 ", &id[18..]))), "{text}");
    assert!(ids.iter().all(|id| !text.contains(id)), "{text}");
}

#[test]
fn a_search_on_a_terminal_has_a_heading_for_each_conversation() {
    let home = Home::new();
    let first = home.add(&["--prev", "head"], "What is a leap year?");
    let long = format!("a leap year {}end", "has many words ".repeat(12));
    let answer = home.add(&["--kind", "a"], &long);
    home.add(&["--prev", "head"], "Leap, and jump.");
    home.ok(&["title", &first, "윤년"]);
    let found = shown(&home, &["grep", "-i", "leap"]);
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines[0], "Leap, and jump.", "{found}");
    assert!(lines[1].starts_with("  ") && lines[1].ends_with("user  Leap, and jump."), "{found}");
    assert_eq!((lines[2], lines[3]), ("", "윤년"), "{found}");
    assert!(lines[4].starts_with(&format!("  {} ", &answer[18..])), "{found}");
    assert!(lines[5].starts_with("    ") && lines.iter().all(|line| line.chars().count() <= 80), "{found}");
    assert!(found.replace("\n    ", " ").contains(&long), "words are whole: {found}");
    // Lines below the first have the whole width.
    assert!(lines[5].starts_with("    many words has ") && lines[5].len() > 72, "{found}");
    // In a pipe it is a line a match, as ever.
    let piped = home.ok(&["grep", "-i", "leap"]);
    assert!(piped.lines().count() == 3 && piped.contains("\"What is a leap year?\" (2): a leap"), "{piped}");
}

#[test]
fn one_word_means_hidden_and_another_every_conversation() {
    let home = Home::new();
    home.add(&["--prev", "head"], "seen");
    home.add(&["--hidden", "--kind", "s"], "unseen");
    for args in [&["show"][..], &["log"], &["export"], &["grep", "seen"]] {
        let plain = home.ok(args);
        assert!(!plain.contains("unseen"), "{args:?}: {plain}");
        for flag in ["-a", "--hidden"] {
            let all = home.lepo(&[args, &[flag]].concat());
            let hidden = home.ok(&["ls", "--spent"]);
            let id = hidden.split(' ').next().unwrap();
            // The visible end is `@`: the hidden one is named.
            let named = home.lepo(&[args, &[flag, id]].concat());
            assert!(
                all.out.contains("unseen") || named.out.contains("unseen"),
                "{args:?} {flag}: {}",
                named.err
            );
        }
    }
    // Spellings of before.
    for args in [&["show", "--all"][..], &["log", "--show-all"], &["export", "--show-all"], &["ls", "--all"]]
    {
        assert_eq!(home.lepo(args).code, 0, "{args:?}");
    }
    assert_eq!(home.ok(&["grep", "--all", "seen"]).lines().count(), 1);
    home.add(&["--prev", "@"], "more");
    assert!(home.ok(&["log", "@~1.."]).ends_with("more\n"));
    let ran = home.lepo(&["log", "..@"]);
    assert!(ran.code == 2 && ran.err.contains("is missing its beginning"), "{}", ran.err);
}

#[test]
fn an_excerpt_in_a_pipe_has_no_control_characters() {
    let home = Home::new();
    home.add(&["--prev", "head"], "a\u{1b}[31mred\u{7} question that is rather long");
    let listed = home.ok(&["ls"]);
    assert!(listed.ends_with(": a[31mred que ...  rather long\n"), "{listed:?}");
}

#[test]
fn an_export_is_a_file_or_a_folder_as_its_name_says() {
    let home = Home::new();
    home.add(&["--prev", "head"], "q");
    home.add(&["--kind", "a"], "a");
    for (format, path) in
        [("markdown", "one.md"), ("json", "one.json"), ("pi", "one.jsonl"), ("chatgpt", "c.json")]
    {
        assert_eq!(home.ok(&["export", "--format", format, "-o", path]), format!("{path}\n"));
        assert!(home.work().join(path).is_file());
        // A file that is named is replaced.
        home.ok(&["export", "--format", format, "-o", path]);
    }
    for (format, path) in [("markdown", "new/"), ("pi", "new/"), ("markdown", "there")] {
        std::fs::create_dir_all(home.work().join("there")).unwrap();
        let written = home.ok(&["export", "--format", format, "-o", path]);
        assert!(written.starts_with(&format!("{}/", path.trim_end_matches('/'))), "{written}");
    }
    home.add(&["--prev", "head"], "other");
    let written = home.ok(&["export", "--format", "pi", "--all", "-o", "many"]);
    assert_eq!(written.lines().count(), 2);
    assert_eq!(home.ok(&["export", "--format", "html", "--all", "-o", "all.html"]), "all.html\n");
    assert_eq!(home.lepo(&["export", "--format", "pi", "--all"]).code, 2);
}

#[test]
fn a_title_is_in_what_is_exported() {
    let home = Home::new();
    home.add(&["--prev", "head"], "q");
    home.add(&["--kind", "a"], "a");
    home.ok(&["title", "봄의 날짜"]);
    assert!(home.ok(&["export"]).starts_with("# 봄의 날짜\n"));
    assert!(home.ok(&["export", "-o", "out/"]).contains("_봄의_날짜.md"));
    assert!(home.ok(&["export", "--format", "html"]).contains("<title>봄의 날짜"));
}

#[test]
fn without_the_program_of_the_small_model_lepo_says_so_everywhere() {
    let home = Home::with_config("");
    std::fs::create_dir(home.path().join("bin")).unwrap();
    // By another process: a program that is open for writing here, in a child of another test, cannot be started.
    let copied = std::process::Command::new("cp")
        .args([env!("CARGO_BIN_EXE_lepo"), home.path().join("bin/lepo").to_str().unwrap()])
        .status();
    assert!(copied.unwrap().success());
    let lepo = home.path().join("bin/lepo");
    let ran = |args: &[&str]| {
        let mut command = home.program(lepo.to_str().unwrap(), args);
        command.env("PATH", "/usr/bin:/bin");
        run(command, b"")
    };
    for args in [&["do", "-m", "embedded:", "q"][..], &["model", "get"]] {
        let ran = ran(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(
            ran.err.contains("the program lepo-embedded, which runs the embedded model, is not installed")
        );
        assert!(ran.err.contains("cargo install --path crates/lepo-embedded"), "{}", ran.err);
    }
    assert!(ran(&["model"]).out.contains("smollm2-135m embedded - lepo-embedded is not installed\n"));
    assert!(ran(&["--version", "--verbose"]).out.contains("lepo-embedded (not installed)"));
}

#[test]
fn a_terminal_that_does_not_tell_where_its_cursor_is_has_its_prompt_all_the_same() {
    let bot = Bot::saying("planner = 'off'", &["One."]);
    let steps = [("> ", "a\n"), ("One.", ""), ("> ", "\n")];
    let ran = on_mute_terminal(bot.home.command(&["do"]), &steps);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(bot.times_asked(), 1);
}
