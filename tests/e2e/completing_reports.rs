//! Completion as it went wrong elsewhere, by public reports: in the real shells, and what they are told.

use crate::completing_files::{SHELLS, is_here, typed, write_recorder};
use crate::home::{Home, run};

/// Models with colons in their names, and a conversation whose first words are what a shell would take apart.
fn home() -> Home {
    let model = |name: &str| format!("[[models]]\nname = \"{name}\"\nprovider = \"ollama\"\nmodel = \"x\"\n");
    let names = ["qwen3:8b", "llama:4b", "llama:8b", "hub:mistral:7b", "crate::Model"];
    let home = Home::with_config(&names.map(model).concat());
    write_recorder(&home);
    for (branch, text) in [
        ("paren", "Connect a server (hot reload) [x] {y}"),
        ("quote", "it's `a` \"b\" $HOME \\n"),
        ("colon", "std::fmt: how? :: 각"),
    ] {
        let id = home.add(&["--prev", "head"], text);
        home.ok(&["branch", branch, &id]);
        home.write(&format!("work/.lepo/_branches/{branch}$(touch PWNED)"), format!("{id}\n"));
    }
    home.write("work/hello world.txt", "x");
    home.write("work/help.txt", "x");
    home
}

/// The report, the shells it is about, what is typed, and the words that lepo is started with.
type Row = (&'static str, &'static str, &'static str, &'static [&'static str]);

const TYPED: &[Row] = &[
    ("https://github.com/jdx/usage/issues/674", "bash zsh fish", "do -m qwen\t", &["do", "-m", "qwen3:8b"]),
    ("https://github.com/mattpolzin/harmony/issues/413", "zsh", "do -m qwen3:\t", &["do", "-m", "qwen3:8b"]),
    ("https://github.com/mklabs/tabtab/issues/22", "bash", "do -m qwen3:\t", &["do", "-m", "qwen3:8b"]),
    ("https://github.com/jdx/usage/pull/670", "zsh fish", "do -m llama:8\t", &["do", "-m", "llama:8b"]),
    (
        "https://github.com/rpm-software-management/dnf5/pull/1984",
        "bash",
        "do -m llama:4\t",
        &["do", "-m", "llama:4b"],
    ),
    (
        "https://github.com/spf13/cobra/pull/210",
        "bash zsh fish",
        "do -m hub:mis\t",
        &["do", "-m", "hub:mistral:7b"],
    ),
    (
        "https://github.com/clap-rs/clap/issues/6403",
        "bash zsh fish",
        "do -m crate::\t",
        &["do", "-m", "crate::Model"],
    ),
    ("https://github.com/jdx/usage/issues/558", "bash zsh fish", "show pa\t", &["show", "paren"]),
    ("https://github.com/fosskers/aura/pull/699", "bash zsh fish", "show qu\t", &["show", "quote"]),
    ("https://github.com/jdx/usage/pull/597", "bash zsh fish", "show col\t", &["show", "colon"]),
    // The cursor stands before a word that is typed already.
    (
        "https://github.com/szermatt/emacs-bash-completion/issues/52",
        "bash zsh fish",
        "diff pa @\u{2}\u{2}\t\u{5}",
        &["diff", "paren", "@"],
    ),
    // A name that needs quotes is left out, and another one beside it completed.
    (
        "https://github.com/yadm-dev/yadm/issues/341",
        "bash zsh fish",
        "do --attach hel\t",
        &["do", "--attach", "help.txt"],
    ),
    (
        "https://github.com/ros/ros/issues/85",
        "bash zsh fish",
        "do --attach hello\t",
        &["do", "--attach", "hello"],
    ),
];

#[test]
fn what_is_completed_reaches_lepo_whole() {
    for shell in SHELLS {
        if !is_here(shell.0) {
            continue;
        }
        let home = home();
        let rows: Vec<&Row> =
            TYPED.iter().filter(|row| row.1.split(' ').any(|name| name == shell.0)).collect();
        let lines: Vec<String> = rows.iter().map(|row| format!("lepo {}", row.2)).collect();
        let ran = typed(&home, shell, &lines);
        for (row, words) in rows.iter().zip(&ran) {
            assert_eq!(words, row.3, "{}: {}", shell.0, row.0);
        }
        assert_eq!(ran.len(), rows.len(), "{}: {ran:?}", shell.0);
        assert!(!home.work().join("PWNED").exists(), "{}: a name ran", shell.0);
    }
}

/// The words on the line and what is wrong with the home, of which nothing may be said on the prompt's line.
#[test]
fn nothing_is_said_on_the_line_of_the_prompt() {
    for (report, config, words) in [
        ("https://github.com/jdx/usage/issues/596", "", &["help", "bogus", ""][..]),
        ("https://github.com/xonsh/xonsh/issues/28", "", &["do", "--attach", "none/"]),
        ("https://github.com/DannyBen/alf/pull/47", "[alias]\n", &["none", ""]),
        ("https://github.com/juanfont/headscale/pull/990", "models = 3\n", &["do", "-m", ""]),
        ("https://github.com/thoughtbot/gitsh/issues/316", "[alias]\na = \"'\"\n", &["a", ""]),
    ] {
        for shell in ["bash", "zsh", "fish"] {
            let home = Home::with_config(config);
            let mut command = home.command(&[&["--", "lepo"], words].concat());
            command.env("LEPO_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", words.len().to_string());
            let ran = run(command, b"");
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{report}: {shell}");
        }
    }
}

#[test]
fn a_script_of_completion_is_the_same_whatever_is_wrong() {
    let report = "https://github.com/Foxboron/sbctl/issues/107";
    for shell in ["bash", "zsh", "fish"] {
        let (whole, broken) = (Home::new(), Home::with_config("[models\n"));
        let script = whole.ok(&["completions", shell]);
        let ran = broken.lepo(&["completions", shell]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, script.as_str(), ""), "{report}");
    }
}
