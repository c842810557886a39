//! Completion, as each shell asks for it with the script that `lepo completions` gave it.

use std::process::Command;

use crate::home::{Home, run};
use crate::pty::on_terminal;

/// Two convs and a branch, in a home with two models.
fn home() -> (Home, Vec<String>) {
    let home = Home::with_config(
        "[[models]]\nname = \"gpt\"\nprovider = \"openai\"\nmodel = \"gpt-4o\"\n\
         [[models]]\nname = \"qwen\"\nprovider = \"ollama\"\nmodel = \"qwen3:8b\"\n",
    );
    let first = home.add(&["--prev", "head"], "첫 질문: 왜 그럴까?");
    let answer = home.add(&["--kind", "a"], "so it is");
    let second = home.add(&["--prev", "head"], "with a colon: and an \u{1b}[31mescape");
    home.ok(&["branch", "main", &first]);
    (home, vec![first, answer, second])
}

/// Candidates for the last of these words, as fish is told them, with their meanings.
fn candidates(home: &Home, words: &[&str]) -> Vec<(String, String)> {
    let mut command = home.command(&[&["--", "lepo"], words].concat());
    command.env("LEPO_COMPLETE", "fish");
    let ran = run(command, b"");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{words:?}");
    let lines = ran.out.lines().map(|line| line.split_once('\t').unwrap_or((line, "")));
    lines.map(|(value, meaning)| (value.into(), meaning.into())).collect()
}

fn values(home: &Home, words: &[&str]) -> Vec<String> {
    candidates(home, words).into_iter().map(|(value, _)| value).collect()
}

#[test]
fn each_argument_completes_to_what_there_is() {
    let (home, ids) = home();
    let [first, answer, second] = &ids[..] else { panic!() };
    let addresses = [
        ("@", "with a colon ...  ␛[31mescape"),
        ("main", "첫 질문: 왜 그럴까?"),
        (second, "with a colon ...  ␛[31mescape"),
        (answer, "첫 질문: 왜 그럴까?"),
    ];
    let addresses = addresses.map(|(value, meaning)| (value.to_string(), meaning.to_string()));
    for command in ["show", "ls", "log", "diff", "export", "rm", "edit", "resolve"] {
        assert_eq!(candidates(&home, &[command, ""]), addresses, "{command}");
    }
    assert_eq!(candidates(&home, &["do", "--tail", ""]), addresses);
    assert_eq!(candidates(&home, &["add", "--prev", ""]), addresses);
    assert_eq!(candidates(&home, &["-c", ".", "show", ""]), addresses);
    // None but a tail is offered, until what is typed is that of no tail.
    assert_eq!(
        candidates(&home, &["show", &first.to_lowercase()]),
        [(first.clone(), "u0 첫 질문: 왜 그럴까?".into())]
    );
    assert_eq!(values(&home, &["show", "ma"]), ["main"]);
    assert_eq!(values(&home, &["show", "@..ma"]), ["@..main"]);
    assert_eq!(values(&home, &["branch", "-d", ""]), ["main"]);
    let models = [("gpt", "openai gpt-4o"), ("qwen", "ollama qwen3:8b")].map(|(a, b)| (a.into(), b.into()));
    assert_eq!(candidates(&home, &["do", "-m", ""]), models);
    // A question needs no `do`.
    assert_eq!(candidates(&home, &["-m", ""]), models);
    assert_eq!(values(&home, &["-m", "gpt", "--tail", "ma"]), ["main"]);
    assert_eq!(values(&home, &["model", "rm", "q"]), ["qwen"]);
    assert_eq!(values(&home, &["do", "--tools", ""]), ["manual", "auto", "off"]);
    assert_eq!(values(&home, &["add", "--kind", "a"]), ["a"]);
    assert_eq!(values(&home, &["grep", "--kind", ""]), ["s", "u", "a", "t"]);
    assert_eq!(candidates(&home, &["model", "use", ""]), models);
    assert_eq!(candidates(&home, &["config", "max_r"]), [("max_rounds".into(), "8".into())]);
    assert!(values(&home, &["sh"]).contains(&"show".into()));
    assert!(values(&home, &["show", "--pa"]).contains(&"--paths".into()));
    // Options only where one is begun.
    assert!(values(&home, &["undo", "--"]).contains(&"--redo".into()));
    assert!(values(&home, &["completions", "fish", ""]).is_empty());
    // The cursor is before an argument that is there already.
    let mut command = home.command(&["--", "lepo", "show", "--pa", "@"]);
    command.env("LEPO_COMPLETE", "zsh").env("_CLAP_COMPLETE_INDEX", "2");
    assert!(run(command, b"").out.contains("--paths"));
    assert!(values(&home, &["show", "01JB"]).is_empty(), "of another store");
    assert!(values(&home, &["-c", "..", "show", "01"]).is_empty(), "no store there");
}

#[test]
fn only_models_that_can_be_removed_complete_after_model_rm() {
    let home = Home::with_config(
        "[[models]]\nname = \"gpt\"\nprovider = \"openai\"\nmodel = \"gpt-4o\"\n\
         [[models]]\nname = \"program\"\nprovider = \"cli\"\ncommand = [\"cat\"]\n\
         [[models]]\nname = \"own\"\nprovider = \"embedded\"\nmodel = \"own\"\n",
    );
    home.write("data/lepo/models/added/own.gguf", "weights");
    let offered = candidates(&home, &["model", "rm", ""]);
    assert_eq!(offered, [("gpt", "openai gpt-4o"), ("own", "weights")].map(|(a, b)| (a.into(), b.into())));
    assert_eq!(values(&home, &["model", "use", ""]), ["gpt", "program", "own"]);
    for (name, _) in offered {
        home.ok(&["model", "rm", &name]);
    }
    assert_eq!(values(&home, &["model", "rm", ""]), ["own"], "its entry is removed after its weights");
    assert_eq!(home.lepo(&["model", "rm", "program"]).code, 1);
}

#[test]
fn a_name_that_a_shell_would_take_apart_is_not_put_on_its_line() {
    let (home, ids) = home();
    for name in ["x;touch${IFS}TRIPPED", "x$(id)", "x`id`", "x'y", "x&", "x|y", "x>y", "x{a,b}", "x!y"] {
        home.write(&format!("work/.lepo/_branches/{name}"), format!("{}\n", ids[0]));
    }
    for name in ["x\u{202e}y", "x\u{200b}y", "x\u{e0041}", "x한글", "x-1.2"] {
        home.write(&format!("work/.lepo/_branches/{name}"), format!("{}\n", ids[0]));
    }
    for words in [["show", "x"], ["log", "@..x"], ["branch", "x"]] {
        let range = words[1].trim_end_matches('x');
        let expected = [format!("{range}x-1.2"), format!("{range}x한글")];
        assert_eq!(values(&home, &words), expected, "{words:?}");
    }
    assert_eq!(values(&home, &["branch", "-d", "x"]), ["x-1.2", "x한글"]);
}

#[test]
fn requests_that_wait_complete() {
    let (home, _) = home();
    let request = r#"{"access":"read","command":"git log"}"#;
    let waiting = home.add(&["--kind", "s", "--hidden"], request);
    assert_eq!(candidates(&home, &["do", "--approve", ""]), [(waiting.clone(), "git log".into())]);
    assert_eq!(values(&home, &["do", "--deny", &waiting[..8]]), [waiting]);
}

/// Returns bash's completions of a line; `args` and `last` are its arguments, split at readline's breaks.
fn bash_replies(home: &Home, line: &str, args: &str, last: &str, sort: &str) -> String {
    let script = format!(
        "source <(lepo completions bash); COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({args}); \
         COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); COMP_TYPE={sort}; \
         _lepo_whole_arguments lepo '{last}' x; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    run(home.shell(&script), b"").out
}

#[test]
fn bash_lists_candidates_bare() {
    let (home, ids) = home();
    let (newest, other) = (&ids[2], &ids[1]);
    for sort in ["9", "63", "37", "42"] {
        let ask = |typed: &str| {
            bash_replies(&home, &format!("lepo show {typed}"), &format!("lepo show {typed}"), typed, sort)
        };
        assert_eq!(ask(newest), format!("{newest}\n"));
        assert_eq!(ask("01"), format!("{newest}\n{other}\n"));
    }
}

#[test]
fn bash_completes_a_name_with_colons_whole() {
    let home = Home::new();
    let model = |name: &str| format!("[[models]]\nname = \"{name}\"\nprovider = \"ollama\"\nmodel = \"x\"\n");
    home.write("config/config.toml", model("qwen3:8b") + &model("hub:qwen3:4b"));
    home.write("work/a=b/c@d.txt", "x");
    let id = home.add(&["--prev", "head"], "a question");
    home.ok(&["branch", "main", &id]);
    for (line, args, last, found) in [
        ("lepo do -m qwen3", "lepo do -m qwen3", "qwen3", "qwen3:8b\n"),
        ("lepo do -m qwen3:", "lepo do -m qwen3 :", "", "8b\n"),
        ("lepo do -m qwen3:8", "lepo do -m qwen3 : 8", "8", "8b\n"),
        ("lepo do -m hub:qwen3:", "lepo do -m hub : qwen3 :", "", "4b\n"),
        ("lepo do -m hub:q", "lepo do -m hub : q", "q", "qwen3:4b\n"),
        ("lepo do --model=hub:q", "lepo do --model = hub : q", "q", "qwen3:4b\n"),
        ("lepo do --model=\"hub:q", "lepo do --model = '\"hub:q'", "hub:q", "hub:qwen3:4b\n"),
        ("lepo do --tail=ma", "lepo do --tail = ma", "ma", "main\n"),
        ("lepo do --tail @..ma", "lepo do --tail @ ..ma", "@..ma", "@..main\n"),
        ("lepo do -A a=b/", "lepo do -A a = b/", "b/", "b/c@d.txt\n"),
        ("lepo do -A a=b/c@", "lepo do -A a = b/c @", "@", "@d.txt\n"),
    ] {
        assert_eq!(bash_replies(&home, line, args, last, "9"), found, "{line}");
    }
}

#[test]
fn a_script_of_bash_that_was_saved_before_gets_candidates_as_it_splits_them() {
    let (home, ids) = home();
    let mut command = home.command(&["--", "lepo", "show", "01"]);
    command.env("LEPO_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2");
    assert_eq!(run(command, b"").out, format!("{}\u{b}{}", ids[2], ids[1]));
}

#[test]
fn a_store_is_found_by_a_quoted_option() {
    let (home, ids) = home();
    std::fs::rename(home.work().join(".lepo"), home.path().join("moved")).unwrap();
    std::fs::create_dir(home.work().join("my dir")).unwrap();
    std::fs::rename(home.path().join("moved"), home.work().join("my dir/.lepo")).unwrap();
    for option in [&["-c", "my dir"][..], &["-c", "'my dir'"], &["-c", "my\\ dir"], &["--cd=\"my dir\""]] {
        assert_eq!(values(&home, &[option, &["show", "01"]].concat()), [&*ids[2], &*ids[1]], "{option:?}");
    }
}

#[test]
fn zsh_completes_also_where_nothing_was_prepared() {
    let (home, ids) = home();
    if Command::new("zsh").arg("--version").output().is_err() {
        crate::skip::skipped("zsh", "no zsh here");
        return;
    }
    // Real completion needs the line editor: a zsh without start-up files, on a terminal of its own.
    let zsh = |before: &str, typed: &str| {
        let keys = "bindkey -e; zstyle ':completion:*' list-colors ''; PS1=REA\"DY\"";
        let script = format!("cd '{}'; {before}; {keys}\n", home.work().display());
        let steps = [("", script.as_str()), ("READY", typed), (&ids[1], "\x15"), ("", "exit\n")];
        on_terminal(home.terminal("stty cols 100; zsh -f -i"), &steps).out
    };
    home.write("fpath/_lepo", home.ok(&["completions", "zsh"]));
    let fpath = home.path().join("fpath").display().to_string();
    for before in [
        "source <(lepo completions zsh)".to_string(),
        "autoload -Uz compinit && compinit -i -D; source <(lepo completions zsh)".into(),
        format!("fpath=('{fpath}' $fpath); autoload -Uz compinit && compinit -i -D"),
    ] {
        // Without the `01` there is `@`, which means the same as the newest.
        for typed in ["lepo show 01\t\t", "lepo show \t\t"] {
            let shown = zsh(&before, typed);
            let (newest, other) = (shown.find(&ids[2]), shown.find(&ids[1]));
            assert!(newest.is_some() && newest < other, "{before}: {shown}");
        }
    }
}

#[test]
fn zsh_and_fish_take_what_they_are_told() {
    let (home, ids) = home();
    let zsh = "compdef() { :; }; _describe() { print -l -- ${(P)3}; }; source <(lepo completions zsh); \
               words=(lepo show 01); CURRENT=3; _clap_dynamic_completer_lepo";
    let fish = "lepo completions fish | source; complete -C 'lepo show 01'";
    for (shell, args, between) in [("zsh", ["-fc", zsh], ":"), ("fish", ["-c", fish], "\t")] {
        if Command::new(shell).arg("--version").output().is_err() {
            crate::skip::skipped(shell, format!("no {shell} here"));
            continue;
        }
        let ran = run(home.program(shell, &args), b"");
        let expected = format!(
            "{}{between}with a colon ...  ␛[31mescape\n{}{between}첫 질문: 왜 그럴까?\n",
            ids[2], ids[1]
        );
        assert_eq!(ran.out, expected, "{shell}: {}", ran.err);
    }
}

#[test]
fn aliases_complete_as_commands_do() {
    let home = Home::with_config(
        "[alias]\nagain = \"do --retry\"\nzz = \"l --paths\"\nl = \"ls -n 1\"\nuse = \"model use\"\nls = \"show\"\n\
         q = \"-n 'a question'\"\nlost = \"none\"\n[[models]]\nname = \"gpt\"\nprovider = \"openai\"\nmodel = \"m\"\n",
    );
    let first = candidates(&home, &["a"]);
    assert!(
        first.contains(&("again".into(), "do --retry".into())) && first.iter().any(|(word, _)| word == "add")
    );
    let all = values(&home, &[""]);
    for name in ["zz", "l", "use", "q"] {
        assert!(all.contains(&name.to_string()), "{name}: {all:?}");
    }
    assert!(!all.contains(&"lost".to_string()), "it leads nowhere: {all:?}");
    assert_eq!(all.iter().filter(|word| *word == "ls").count(), 1, "a command's own name is the command");
    for words in [["again", "-m", ""], ["q", "-m", ""]] {
        assert_eq!(values(&home, &words), ["gpt"], "{words:?}");
    }
    assert_eq!(values(&home, &["use", ""]), ["gpt"]);
    assert!(values(&home, &["zz", "--gr"]).contains(&"--grep".into()));
    // A file that cannot be read is no trouble here.
    home.write("config/config.toml", "[alias\n");
    assert!(values(&home, &["sh"]).contains(&"show".into()));
}
