//! Finding and reading on a terminal: `ls`, `log`, `show`, their columns, dates, names and pager.

use crate::addresses::shell;
use crate::home::Home;
use crate::pty::on_terminal;
use crate::screen::Screen;

/// A question and an answer of March 2025, and a Korean question of now; the ids.
fn store(home: &Home) -> [String; 3] {
    let old = home.add(&["--time", "2025-03-03T12:00Z"], "How do I parse a date, and what of time zones?");
    let answer = home.add(&["--kind", "a", "--time", "2025-03-03T12:01Z"], "Use **jiff**.\n\n- one\n");
    let korean = home.add(&[], "그러면 시간대는 어떻게 처리하나요? 여름 시간도 알아서 처리해 주나요?");
    home.write(
        "work/.lepo/_journal.ndjson",
        format!("{{\"bubb\":\"{answer}\",\"model\":\"gpt-4o\",\"input\":3000,\"output\":120,\"ms\":5}}\n"),
    );
    [old, answer, korean]
}

/// Output of a script on a terminal of so many columns.
fn shown(home: &Home, columns: u32, script: &str) -> String {
    let script = format!("stty cols {columns} rows 24; {script}");
    let mut terminal = home.terminal(&script);
    // Help that is longer than the screen goes to the pager.
    terminal.env("PAGER", "cat");
    on_terminal(terminal, &[]).out.replace('\r', "")
}

#[test]
fn nothing_breaks_within_a_word_on_a_narrow_terminal() {
    let home = Home::new();
    let [_, _, korean] = store(&home);
    home.ok(&["branch", "korean-and-more", &korean]);
    for (script, words) in [
        ("lepo ls -l --color never", &["\n    20"][..]),
        ("lepo branch --color never", &["korean-and-more ", "(3):\n    "]),
        (
            "lepo ls --nosuch",
            &["error: unknown option --nosuch\nhint: `lepo ls --help` lists its\narguments"],
        ),
        ("lepo do --parallel --debate", &["error: --parallel cannot be used with\n--debate"]),
        ("LEPO_PAGER=cat lepo branch --help", &["Usage: lepo branch [OPTIONS] [NAME]\n[ADDR]"]),
        ("lepo ls -l -- --nosuch", &["error: "]),
    ] {
        let shown = shown(&home, 40, script);
        // An id and its height go on together.
        let wide = shown.lines().find(|line| !line.contains("01") && line.chars().count() > 40);
        assert!(wide.is_none() && words.iter().all(|words| shown.contains(words)), "{script}: {shown}");
    }
}

#[test]
fn ls_tells_more_on_a_terminal_and_the_same_in_a_pipe() {
    let home = Home::new();
    let [_, answer, korean] = store(&home);
    home.ok(&["branch", "fix/dates", &korean]);
    let wide = shown(&home, 140, "lepo ls --color never");
    let line = format!("{} 2 questions now gpt-4o 3.1k [fix/dates] How do I parse a date", &korean[18..]);
    assert!(wide.starts_with(&line), "{wide}");
    assert!(wide.contains(" · 그러면 시간대는"), "{wide}");
    let narrow = shown(&home, 40, "lepo ls --color never");
    assert!(narrow.starts_with(&format!("{} 2 questions now", &korean[18..])), "{narrow}");
    assert_eq!(home.ok(&["ls"]), format!("{korean} (3): 그러면 시간대는 어떻게 ... 알아서 처리해 주나요?\n"));

    home.ok(&["title", &answer, "Dates", "and zones"]);
    home.ok(&["title", "@", "Dates of March"]);
    assert_eq!(home.ok(&["title", &answer]), "Dates of March\n");
    assert!(shown(&home, 140, "lepo ls --color never").contains("] Dates of March · How do I"));
    let long = home.ok(&["ls", "-l"]);
    let fields: Vec<&str> = long.split(' ').collect();
    assert_eq!(
        (fields[1], fields[3], fields[4], fields[5]),
        ("(3)", "gpt-4o", "3120", "[fix/dates]"),
        "{long}"
    );
    assert!(
        long.contains(" Dates of March · How do I parse a date, and what of time zones? · 그러면"),
        "{long}"
    );
    let json: serde_json::Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    let tail = &json["tails"][0];
    assert_eq!((&tail["title"], &tail["model"]), (&"Dates of March".into(), &"gpt-4o".into()));
    assert_eq!(tail["usage"]["input"], 3000);
    home.ok(&["title", "--delete", "@"]);
    assert_eq!(home.lepo(&["title", "@"]).code, 1);
}

#[test]
fn ls_tells_the_window_where_it_is_known() {
    let home = Home::with_config(
        "[[models]]\nname = \"gpt-4o\"\nprovider = \"openai\"\nmodel = \"gpt-4o\"\ncontext = 128000\n",
    );
    let [_, _, korean] = store(&home);
    home.ok(&["branch", "a-branch-of-a-long-name", &korean]);
    let wide = shown(&home, 120, "lepo ls --color never");
    assert!(
        wide.starts_with(&format!("{} 2 questions now gpt-4o 3.1k/128k [a-branch", &korean[18..])),
        "{wide}"
    );
    assert!(home.ok(&["ls", "-l"]).contains(" gpt-4o 3120/128000 [a-branch"));
    let json: serde_json::Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    assert_eq!(json["tails"][0]["window"], 128_000);
    // No line is wider than the terminal, and what has no room has a line of its own.
    for columns in [40, 80, 120] {
        for command in ["ls", "ls -l", "log --graph --no-pager"] {
            let shown = shown(&home, columns, &format!("lepo {command} --color never"));
            let widest = shown.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
            // The columns of `-l` are as long as they are.
            let most = if command == "ls -l" { columns.max(100) } else { columns };
            assert!(widest <= most as usize, "{command} {columns}: {shown}");
        }
    }
    assert!(shown(&home, 80, "lepo ls -l --color never").contains("]\n    How do I parse a date"));
    // A configuration that cannot be read hides nothing.
    home.write("config/config.toml", "colour = 1\n");
    assert!(
        shown(&home, 120, "lepo ls --color never")
            .starts_with(&format!("{} 2 questions now gpt-4o 3.1k [a", &korean[18..]))
    );
}

#[test]
fn show_tells_when_and_which_model_and_renders_markdown() {
    let home = Home::new();
    let [old, answer, korean] = store(&home);
    let wide = shown(&home, 80, "LEPO_PAGER=cat lepo show --color always");
    assert!(wide.contains(&format!("# user {}\u{1b}[0m\u{1b}[2m  Mar 2025", &old[18..])), "{wide:?}");
    assert!(
        wide.contains(&format!(
            "# assistant {}\u{1b}[0m\u{1b}[2m  Mar 2025\u{1b}[0m\u{1b}[2m · gpt-4o",
            &answer[18..]
        )),
        "{wide:?}"
    );
    assert!(wide.contains("Use \u{1b}[1mjiff\u{1b}[0m.\n"), "{wide:?}");
    let narrow = shown(&home, 40, "lepo show --no-pager --color always @");
    assert!(
        narrow.contains("그러면 시간대는 어떻게 처리하나요? 여름\n시간도 알아서 처리해 주나요?\n"),
        "{narrow:?}"
    );
    assert!(shown(&home, 80, "lepo show --plain --no-pager").contains("Use **jiff**."));
    assert!(home.ok(&["show"]).starts_with(&format!("# user {old}\nHow do I")));
    let log = shown(&home, 120, "lepo log --no-pager --color never");
    assert!(log.contains(&format!("{} a0 3 Mar 2025   gpt-4o Use **jiff**.", &answer[18..])), "{log}");
    assert!(log.starts_with(&format!("{} u0 ", &korean[18..])), "{log}");
}

#[test]
fn a_long_output_goes_through_the_pager_that_is_set() {
    let home = Home::new();
    store(&home);
    for (script, paged) in [
        ("LEPO_PAGER='sed s/^/P:/' lepo show", true),
        ("LEPO_PAGER='sed s/^/P:/' lepo log", true),
        ("PAGER='sed s/^/P:/' lepo log", true),
        ("LEPO_PAGER=cat PAGER='sed s/^/P:/' lepo log", false),
        ("LEPO_PAGER='sed s/^/P:/' lepo log --no-pager", false),
        ("LEPO_PAGER='no-such-pager' lepo log", false),
        ("LEPO_PAGER='sed s/^/P:/' lepo show | cat", false),
        ("LEPO_PAGER='sed s/^/P:/' lepo --no-pager show", false),
        ("LEPO_PAGER='sed s/^/P:/' lepo -s .lepo show --no-pager @", false),
        ("LEPO_PAGER='sed s/^/P:/' lepo grep date", true),
        ("LEPO_PAGER='sed s/^/P:/' lepo --no-pager grep date", false),
        ("LEPO_PAGER='sed s/^/P:/' TERM=dumb lepo show", false),
    ] {
        // Two lines: every output is longer.
        let shown = shown(&home, 80, &format!("stty rows 2; {script}"));
        assert_eq!(shown.contains("P:"), paged, "{script}: {shown}");
        assert!(shown.contains("parse a date"), "{script}: {shown}");
    }
    let help = shown(&home, 80, "LEPO_PAGER='sed s/^/P:/' lepo ls --help");
    assert!(help.contains("P:List the conversations"), "{help}");
    // One that is left early is a quiet end.
    for command in ["show", "log", "grep date", "ls", "config"] {
        let script = format!("stty rows 2; LEPO_PAGER='head -1' lepo {command}; echo code $?");
        let left = on_terminal(home.terminal(&script), &[]).out;
        assert!(left.contains("code 0"), "{command}: {left}");
    }
}

#[test]
fn a_pager_starts_with_the_first_line_that_does_not_fit_the_screen() {
    let home = Home::new();
    store(&home);
    home.ok(&["init"]);
    let lines = shown(&home, 80, "stty rows 200; lepo config").lines().count();
    let paged = |rows: usize, command: &str| {
        let script = format!("stty rows {rows}; LEPO_PAGER='sed s/^/P:/' lepo {command}");
        let shown = shown(&home, 80, &script);
        shown.contains("P:")
    };
    // A line remains for the prompt.
    assert!(!paged(lines + 1, "config"));
    assert!(paged(lines, "config"));
    assert!(!paged(lines, "config max_rounds") && !paged(2, "config max_rounds --no-pager"));
    for (value, is_paged) in
        [("false", false), ("{ config = false }", false), ("{ ls = false }", true), ("true", true)]
    {
        home.ok(&["config", "term.pager", value]);
        assert_eq!(paged(2, "config"), is_paged, "{value}");
    }
    for (value, said) in [
        ("{ fsck = false }", "has no pager"),
        ("3", "true, false, or a table"),
        ("{ ls = 3 }", "true, false"),
    ] {
        let ran = home.lepo(&["config", "term.pager", value]);
        assert!(ran.code == 2 && ran.err.contains(said), "{value}: {}", ran.err);
    }
}

#[test]
fn colours_are_forced_on_headings_and_on_no_text_or_list() {
    let home = Home::new();
    store(&home);
    let out = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = home.command(args);
        command.envs(variables.iter().copied());
        crate::home::run(command, b"").out
    };
    let force = [("FORCE_COLOR", "1")];
    let headings = out(&["show"], &force);
    assert!(headings.contains("\u{1b}[36m# user "), "{headings:?}");
    assert!(headings.contains("\nUse **jiff**."), "{headings:?}");
    for args in [&["ls"][..], &["log"], &["branch"], &["grep", "date"], &["show", "-1"], &["show", "--json"]]
    {
        assert!(!out(args, &force).contains('\u{1b}'), "{args:?}");
    }
    assert!(!out(&["show"], &[force[0], ("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(!out(&["--color=never", "show"], &force).contains('\u{1b}'));
    assert!(out(&["--color=always", "log"], &[]).contains('\u{1b}'));
}

#[test]
fn models_and_prompts_are_in_columns_on_a_terminal_wide_and_narrow() {
    let models = "[[models]]\nname = \"a\"\nprovider = \"ollama\"\nmodel = \"llama3\"\nactive = true\n\
                  [[models]]\nname = \"longer\"\nprovider = \"openai\"\nmodel = \"a-model-with-a-name-of-30-letters\"\n";
    let home = Home::with_config(models);
    home.ok(&["prompt", "add", "p", "Answer in one sentence, and say no more than is needed for it."]);
    home.ok(&["prompt", "add", "review", "짧게 답하라"]);
    let wide = shown(&home, 80, "lepo model ls --color never");
    assert!(wide.contains("a            ollama   llama3 active\n"), "{wide}");
    assert!(wide.contains("longer       openai   a-model-with"), "{wide}");
    let narrow = shown(&home, 40, "lepo model ls --color never");
    assert!(narrow.contains("a            ollama   llama3 active\n"), "{narrow}");
    assert!(narrow.contains("longer       openai\n    a-model-with"), "{narrow}");
    assert!(home.ok(&["model", "ls"]).contains("a ollama llama3 active\n"), "a pipe has the fields");
    home.ok(&["model", "use", "longer"]);
    let full = shown(&home, 58, "lepo model ls --color never");
    assert!(full.contains("longer       openai\n    a-model-with-a-name-of-30-letters active\n"), "{full}");
    let wide = shown(&home, 80, "lepo prompt ls");
    assert!(wide.contains("p       (user)  Answer in") && wide.contains("review  (user)  짧게"), "{wide}");
    let narrow = shown(&home, 30, "lepo prompt ls");
    assert!(
        narrow.contains("p       (user)\n    Answer in") && narrow.lines().all(|line| line.len() <= 40),
        "{narrow}"
    );
    assert!(home.ok(&["prompt", "ls"]).contains("p  (user)  Answer in"));
}

#[test]
fn speakers_are_named() {
    let home = Home::new();
    let question = home.add(&[], "one service or many?");
    let select = home.add(&["--kind", "s", "--hidden"], "SELECT: gemini");
    let speech = home.add(&["--kind", "a", "--prev", &select], "One.");
    let plain = home.add(&["--kind", "a", "--prev", &question], "Many.");
    let shown = home.ok(&["show", &speech]);
    assert!(shown.contains(&format!("# assistant {speech} gemini\nOne.")), "{shown}");
    assert!(home.ok(&["show", &plain]).contains(&format!("# assistant {plain}\nMany.")));
    assert!(home.ok(&["log", &speech]).starts_with(&format!("{speech} a0 gemini: One.")));
    let json: serde_json::Value = serde_json::from_str(&home.ok(&["show", "--json", &speech])).unwrap();
    assert_eq!(json["bubbs"][1]["speaker"], "gemini");
    // The conclusion is the orchestrator's; an answer after other hidden words is nobody's by name.
    let bids = home.add(&["--kind", "s", "--hidden", "--prev", &speech], "claude: PASS\ngemini: PASS");
    let end = home.add(&["--kind", "s", "--hidden", "--prev", &bids], "So be it.\n**END:** One.");
    let conclusion = home.add(&["--kind", "a", "--prev", &end], "One service.");
    let shown = home.ok(&["show", &conclusion]);
    assert!(shown.contains(&format!("# assistant {conclusion} orchestrator\nOne service.")), "{shown}");
    let output = home.add(&["--kind", "s", "--hidden", "--prev", &speech], "$ cat log\nEND: of file");
    let answer = home.add(&["--kind", "a", "--prev", &output], "It ends.");
    assert!(home.ok(&["show", &answer]).contains(&format!("# assistant {answer}\nIt ends.")));
}

#[test]
fn a_store_is_found_named_and_read_from_anywhere() {
    let home = Home::new();
    store(&home);
    let root = home.ok(&["root"]);
    assert_eq!(root.trim(), home.work().join(".lepo").to_str().unwrap());
    let root = root.trim();
    let elsewhere = |script: &str| shell(&home, &format!("mkdir -p ../far && cd ../far && {script}"));
    assert_eq!(elsewhere(&format!("lepo ls --store {root}")).out, home.ok(&["ls"]));
    assert_eq!(elsewhere(&format!("lepo --store {root} branch")).code, 0);
    let paths = elsewhere(&format!("lepo --store={root} show --paths"));
    assert!(paths.out.starts_with(root), "{} {}", paths.out, paths.err);
    for writing in ["branch x @", "rm -y @", "title @ x", "edit @"] {
        assert_eq!(elsewhere(&format!("lepo --store {root} {writing}")).code, 2, "{writing}");
    }
    let ran = elsewhere("lepo root");
    assert_eq!(ran.code, 1, "{}", ran.out);
}

#[test]
fn a_slip_of_the_keys_is_answered_with_a_suggestion() {
    let home = Home::new();
    let ran = home.lepo(&["shwo"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("hint: did you mean `lepo show`?"), "{}", ran.err);
    assert!(home.lepo(&["hlep"]).err.contains("did you mean `lepo help`?"));
    assert!(home.lepo(&["frobnicate"]).err.contains("lists the commands"));
}

#[test]
fn ls_on_a_terminal_tells_two_answers_apart_and_shows_a_short_last_question_beside_the_first() {
    let home = Home::new();
    let question = home.add(&["--prev", "head"], "Which of these is the better?");
    home.add(&["--kind", "a", "--prev", &question], "the first");
    home.add(&["--kind", "a", "--prev", &question], "the second");
    home.add(&[], "And why?");
    home.add(&["--kind", "a", "--prev", &question], "neither");
    let Some(screen) = Screen::lepo(&home, 80, &["ls"]) else { return };
    screen.ends(0);
    let whole = screen.whole();
    for line in ["Which of these is the better? · neither", "Which of these is the better? · the first"] {
        assert!(whole.contains(line), "{line}: {whole}");
    }
    assert!(whole.contains("Which of these is the better? · And why?\n"), "{whole}");
}
