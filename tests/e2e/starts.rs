//! Where programs of the user's start: a cloned repository runs nothing through them before its folder is trusted.

use std::process::Command;

use serde_json::{Value, json};

use crate::acp_client::Client;
use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Home, Ran, run};
use crate::mcp::{configure_only, left};
use crate::pty::on_terminal;
use crate::worktrees::with_worktree;

/// A program of the user's that reads its working directory: its words, and the file of a repository that it runs.
struct Reader {
    words: &'static [&'static str],
    file: (&'static str, &'static str),
    /// A program of that name is on this machine.
    needs: &'static str,
}

/// Leaves a mark where the repository's file was run.
const MARK: &str = "touch \"$HOME/TRIPPED\"";

const READERS: &[Reader] = &[
    Reader {
        words: &["python3", "-m", "theirs"],
        file: ("theirs.py", "import os; open(os.environ['HOME'] + '/TRIPPED', 'w')"),
        needs: "python3",
    },
    Reader {
        words: &["python3", "-c", "import json"],
        file: ("json.py", "import os; open(os.environ['HOME'] + '/TRIPPED', 'w')"),
        needs: "python3",
    },
    Reader {
        words: &["npx", "-y", "theirs-for-lepo"],
        file: ("node_modules/.bin/theirs-for-lepo", "#!/bin/sh\ntouch \"$HOME/TRIPPED\"\n"),
        needs: "npx",
    },
    Reader {
        words: &["npm", "run", "serve"],
        file: ("package.json", r#"{"scripts":{"serve":"touch \"$HOME/TRIPPED\""}}"#),
        needs: "npm",
    },
    Reader {
        words: &["make", "-s"],
        file: ("Makefile", "all:\n\ttouch \"$$HOME/TRIPPED\"\n"),
        needs: "make",
    },
    Reader {
        words: &["perl", "-I.", "-MTheirs", "-e1"],
        file: ("Theirs.pm", "open(my $f, '>', \"$ENV{HOME}/TRIPPED\"); 1;\n"),
        needs: "perl",
    },
    Reader {
        words: &["node", "--require", "./theirs.js", "-e", "0"],
        file: ("theirs.js", "require('fs').writeFileSync(process.env.HOME + '/TRIPPED', '')"),
        needs: "node",
    },
    Reader { words: &["sh", "-c", ". ./theirs.sh"], file: ("theirs.sh", MARK), needs: "sh" },
    Reader {
        words: &["./theirs.sh"],
        file: ("theirs.sh", "#!/bin/sh\ntouch \"$HOME/TRIPPED\"\n"),
        needs: "sh",
    },
];

/// The ways in which a program of the user's is configured. Each home has a model that a question starts it with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Server,
    Cli,
    Agent,
    Key,
}

const WAYS: [Way; 4] = [Way::Server, Way::Cli, Way::Agent, Way::Key];

/// A home whose configuration has a program in this way.
fn with_program(way: Way, words: &[&str]) -> Bot {
    let bot = Bot::saying("planner = \"native\"", &["Hi."; 8]);
    let url = bot.server().url();
    let [program, args @ ..] = words else { panic!() };
    let model = match way {
        Way::Server => {
            configure_only(&bot.home, &[("s", json!({ "command": program, "args": args }))]);
            return bot;
        }
        Way::Cli => format!("provider = \"cli\"\ncommand = {words:?}"),
        Way::Agent => format!("provider = \"acp\"\ncommand = {words:?}"),
        Way::Key => format!(
            "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}/v1\"\napi_key_command = {words:?}"
        ),
    };
    bot.home.write("config/config.toml", format!("[[models]]\nname = \"test\"\nactive = true\n{model}\n"));
    bot
}

/// Makes `work` a clone with this file in it.
fn plant(home: &Home, (path, text): (&str, &str)) {
    let git = home.program("git", &["init", "-q"]).status().unwrap();
    assert!(git.success());
    home.write_program(&format!("work/{path}"), text);
}

fn tripped(home: &Home) -> bool {
    std::fs::remove_file(home.path().join("TRIPPED")).is_ok()
}

/// A question where nobody can be asked. No package is ever looked for elsewhere.
fn ask(home: &Home, args: &[&str]) -> Ran {
    let mut command = home.detached(args);
    offline(&mut command);
    run(command, b"")
}

fn offline(command: &mut Command) {
    command.env("NPM_CONFIG_OFFLINE", "true").env("NPM_CONFIG_UPDATE_NOTIFIER", "false");
}

fn is_installed(program: &str) -> bool {
    let is_there = Command::new("sh").args(["-c", &format!("command -v {program} >/dev/null")]).status();
    let is_there = is_there.is_ok_and(|status| status.success());
    if !is_there {
        crate::skip::skipped(program, format!("no {program} here"));
    }
    is_there
}

fn give_trust(home: &Home) -> Ran {
    on_terminal(home.command(&["trust"]), &[("Trust this, as it is? (y/N): ", "y\n")])
}

const TRUST: &str = "[y]es [n]o";

#[test]
fn no_file_of_a_clone_is_run_by_a_program_of_the_users() {
    for reader in READERS.iter().filter(|reader| is_installed(reader.needs)) {
        for way in WAYS {
            let bot = with_program(way, reader.words);
            plant(&bot.home, reader.file);
            let ran = ask(&bot.home, &["do", "q"]);
            assert!(!tripped(&bot.home), "{way:?} {:?}: {}", reader.words, ran.err);
            if way == Way::Cli {
                assert_eq!(ran.code, 2, "{}", ran.err);
            }
            // It would have run: the same where the folder is trusted. A key is never printed from there.
            bot.home.trust_work();
            let ran = ask(&bot.home, &["do", "q"]);
            assert_eq!(tripped(&bot.home), way != Way::Key, "{way:?} {:?}: {}", reader.words, ran.err);
        }
    }
}

#[test]
fn no_program_is_taken_out_of_the_worktree_trusted_or_not() {
    for entry in ["", ".", "node_modules/.bin", "ABSOLUTE"] {
        for way in WAYS {
            let bot = with_program(way, &["theirs-for-lepo"]);
            for path in ["theirs-for-lepo", "node_modules/.bin/theirs-for-lepo"] {
                plant(&bot.home, (path, "#!/bin/sh\ntouch \"$HOME/TRIPPED\"\n"));
            }
            let dir = bot.home.work().join("node_modules/.bin");
            let entry = if entry == "ABSOLUTE" { dir.to_str().unwrap() } else { entry };
            for is_trusted in [false, true] {
                if is_trusted {
                    give_trust(&bot.home);
                }
                let mut command = bot.home.detached(&["do", "q"]);
                command.env("PATH", format!("{entry}:/usr/bin:/bin"));
                let ran = run(command, b"");
                assert!(!tripped(&bot.home), "{way:?} {entry:?}: {}", ran.err);
                // A cli model is not looked for before its folder is trusted.
                let is_sought = way != Way::Cli || is_trusted;
                let says = "a folder of `PATH` that a repository can fill";
                assert!(!is_sought || ran.err.contains(says), "{way:?} {entry:?}: {}", ran.err);
            }
        }
    }
}

#[test]
fn programs_of_lepos_own_are_not_taken_out_of_the_worktree() {
    let home = Home::new();
    home.ok(&["init"]);
    let bin = home.work().join("bin");
    for program in ["git", "bwrap", "lepo-theirs", "less", "vi", "sh", "uname"] {
        plant(&home, (&format!("bin/{program}"), "#!/bin/sh\ntouch \"$HOME/TRIPPED\"\nexit 1\n"));
    }
    home.add(&[], "a text");
    for args in
        [&["theirs"][..], &["edit"], &["show"], &["sync", "/no-such-place"], &["--version", "--verbose"]]
    {
        // A sync asks more on a terminal.
        for terminal in [false, args[0] != "sync"] {
            let script = format!("{} {}", env!("CARGO_BIN_EXE_lepo"), args.join(" "));
            let mut command = match terminal {
                true => home.terminal(&script),
                false => home.detached(args),
            };
            command.env("PATH", format!("{}:{}", bin.display(), "/usr/bin:/bin")).env("EDITOR", "true");
            run(command, b"");
            assert!(!tripped(&home), "{args:?}");
        }
    }
}

#[test]
fn programs_of_lepos_own_are_not_taken_out_of_another_worktree() {
    let home = Home::new();
    let linked = with_worktree(&home);
    home.ok(&["init"]);
    home.add(&[], "a text");
    for (bin, start) in [(home.work().join("bin"), &linked), (linked.join("bin"), &home.work())] {
        for program in ["git", "bwrap", "lepo-theirs", "less", "vi", "sh", "uname"] {
            home.write_program(
                bin.join(program).to_str().unwrap(),
                "#!/bin/sh\ntouch \"$HOME/TRIPPED\"\nexit 1\n",
            );
        }
        for args in [&["theirs"][..], &["edit"], &["show"], &["help", "log"], &["--version", "--verbose"]] {
            let mut command = home.terminal(&format!("{} {}", env!("CARGO_BIN_EXE_lepo"), args.join(" ")));
            let path = format!("{}:/usr/bin:/bin", bin.display());
            command.current_dir(start).env("PATH", path).env("EDITOR", "true");
            run(command, b"");
            assert!(!tripped(&home), "{args:?} in {}", start.display());
        }
    }
}

#[test]
fn help_for_another_folder_takes_no_program_out_of_it() {
    let home = Home::new();
    home.ok(&["init"]);
    let bin = home.work().join("bin");
    for program in ["sh", "less", "bwrap", "lepo-theirs", "lepo-embedded"] {
        plant(&home, (&format!("bin/{program}"), "#!/bin/sh\ntouch \"$HOME/TRIPPED\"\nexit 1\n"));
    }
    for line in [
        "-c WORK help log",
        "-cWORK log --help",
        "log --cd=WORK --help",
        "--cd WORK help theirs",
        "-c nowhere -c WORK help log",
        "-n -c WORK --help",
        "-c WORK --version --verbose",
    ] {
        let line = line.replace("WORK", home.work().to_str().unwrap());
        let lepo = env!("CARGO_BIN_EXE_lepo");
        let mut command = home.terminal(&format!("stty rows 5 cols 80; {lepo} {line}"));
        let path = format!("{}:/usr/bin:/bin", bin.display());
        // Without a key to press.
        command.current_dir(home.path()).env("PATH", path).env("LEPO_PAGER", "head");
        run(command, b"");
        assert!(!tripped(&home), "{line}");
    }
}

#[test]
fn a_folder_is_asked_about_once_with_all_programs_named_and_the_answer_is_kept() {
    for (answer, expected) in [("y\n", Some(true)), ("n\n", Some(false))] {
        let bot = Bot::saying("planner = \"native\"", &["Hi."; 8]);
        let home = &bot.home;
        home.ok(&["init"]);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hostile.py");
        let place = |name: &str| {
            home.write(&format!("left/{name}/.here"), "");
            home.path().join("left").join(name)
        };
        configure_only(
            home,
            &[
                ("a", json!({ "command": "python3", "args": [script, "plain", place("a")] })),
                ("b", json!({ "command": "python3", "args": ["-m", "no_such_module"] })),
                ("c", json!({ "command": "/bin/false", "cwd": "/" })),
            ],
        );
        let first = on_terminal(home.command(&["do", "one"]), &[(TRUST, answer)]);
        let asked = first.out.replace(['\r', '\n'], " ");
        assert!(
            asked.contains("Programs of yours (python3, python3 -m) may run files of the folder"),
            "{asked}"
        );
        assert!(asked.contains("Trust ~/work?") && asked.contains("Hi."), "{asked}");
        let second = on_terminal(home.command(&["do", "two"]), &[]);
        assert!(second.out.contains("Hi.") && !second.out.contains("Trust ~"), "{}", second.out);
        let told = ask(home, &["trust"]);
        let says = match expected {
            Some(true) => "~/work is trusted",
            _ => "~/work is not trusted, as you said",
        };
        assert!(told.err.contains(says), "{}", told.err);
        if expected == Some(false) {
            // A yes to something else is none to the folder, which is asked about again alone.
            home.write("work/.lepo/_config.toml", "auto_access = \"net\"\n");
            for (is_folder, is_config) in [(false, true), (true, false)] {
                let ran = ask(home, &["trust"]);
                assert!(ran.err.contains(says), "{}", ran.err);
                let given = give_trust(home);
                assert_eq!(given.code, 0, "{}", given.out);
                assert_eq!(given.out.contains("your own servers"), is_folder, "{}", given.out);
                assert_eq!(given.out.contains("auto_access"), is_config, "{}", given.out);
            }
        }
        // Taken back, it is asked about again.
        home.ok(&["trust", "--forget", "."]);
        let third = on_terminal(home.command(&["do", "--list-tools"]), &[(TRUST, "n\n")]);
        assert!(third.out.contains("Trust ~/work?"), "{}", third.out);
    }
}

#[test]
fn a_yes_is_for_the_folder_and_its_worktrees_and_for_no_other_clone() {
    let bot = with_program(Way::Cli, &["sh", "-c", "echo Hi."]);
    let home = &bot.home;
    plant(home, ("x", ""));
    let commit = "git add x; git -c user.name=x -c user.email=x@y commit -qm x; git worktree add -q ../tree";
    assert!(home.shell(commit).status().unwrap().success());
    give_trust(home);
    let at = |dir: &str| ask(home, &["-c", dir, "do", "q"]);
    assert_eq!((at(".").code, at("../tree").code), (0, 0), "{}", at("../tree").err);
    assert!(home.shell("git clone -q . ../clone").status().unwrap().success());
    assert_eq!(at("../clone").code, 2);
    // A yes given in one tree and taken back in another is taken back in both.
    let lepo = |script: &str| assert!(home.shell(script).status().unwrap().success(), "{script}");
    lepo("cd ../tree && lepo trust --forget .");
    assert_eq!((at(".").code, at("../tree").code), (2, 2));
    home.trust_folder(&home.work().join("../tree"));
    assert_eq!((at(".").code, at("../tree").code), (0, 0));
    lepo("lepo trust --forget .");
    assert_eq!((at(".").code, at("../tree").code), (2, 2));
    give_trust(home);
    // Made anew under the trusted name, it is another folder.
    assert!(home.shell("cd ..; rm -rf tree; mv work old; mv clone work").status().unwrap().success());
    assert_eq!(at(".").code, 2);
    assert_eq!(at("../old").code, 0);
}

#[test]
fn a_cli_model_that_may_not_start_sends_nothing_and_keeps_the_question() {
    let bot = with_program(Way::Cli, &["sh", "-c", "touch \"$HOME/TRIPPED\"; echo Hi."]);
    let home = &bot.home;
    let ran = ask(home, &["do", "what now?"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("is not trusted") && ran.err.contains("`lepo trust`"), "{}", ran.err);
    assert!(!tripped(home));
    assert!(bubbs(home).iter().any(|bubb| bubb.text == "what now?"));
    // On a terminal it is asked about, and a no is kept.
    let ran = on_terminal(home.command(&["do", "--retry"]), &[(TRUST, "n\n")]);
    assert!(ran.code == 2 && ran.out.contains("Programs of yours (sh)"), "{}", ran.out);
    let ran = on_terminal(home.command(&["do", "--retry"]), &[]);
    assert!(ran.code == 2 && !ran.out.contains("Programs of yours"), "{}", ran.out);
    assert!(!tripped(home));
    give_trust(home);
    assert_eq!(ask(home, &["do", "--retry"]).out, "Hi.\n");
    assert!(tripped(home));
}

#[test]
fn among_many_a_program_that_may_not_start_is_out() {
    let bot = Bot::saying("", &["Hello."; 4]);
    let home = &bot.home;
    let cli = "[[models]]\nname = \"own\"\nprovider = \"cli\"\ncommand = [\"sh\", \"-c\", \"echo Hi.\"]\n";
    let config = home.read("config/config.toml") + cli;
    home.write("config/config.toml", config);
    let args = ["do", "--parallel", "--participants", "own,test", "q"];
    let ran = ask(home, &args);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## test\n\nHello.\n"), "{}", ran.err);
    assert!(ran.err.contains("own failed") && ran.err.contains("not trusted"), "{}", ran.err);
    let ran = on_terminal(home.command(&args), &[(TRUST, "y\n")]);
    assert!(ran.out.contains("Programs of yours (sh)") && ran.out.contains("Hi."), "{}", ran.out);
}

#[test]
fn a_debate_asks_one_question_about_all_that_it_needs() {
    let bot = Bot::saying("planner = 'off'", &["own: 5"; 16]);
    let home = &bot.home;
    home.write(
        "config/config.toml",
        format!(
            "{}\n[[models]]\nname = \"own\"\nprovider = \"cli\"\ncommand = [\"sh\", \"-c\", \"echo Hi.\"]\n",
            home.read("config/config.toml")
        ),
    );
    home.ok(&["init"]);
    std::fs::remove_dir_all(home.path().join("state/lepo/made")).unwrap();
    home.write_insts("general = 'Speak as the clone says.'\nmood = 'good'\n");
    let args = ["do", "-n", "--debate", "--orchestrator", "test", "--participants", "own,test", "q"];
    let yes = on_terminal(home.command(&args), &[(TRUST, "y\n")]);
    let shown = yes.out.replace(['\r', '\n'], " ");
    for part in ["Not trusted yet: ", "_insts.toml", "Programs of yours (sh) may run files of the folder"] {
        assert!(shown.contains(part), "{part}: {}", yes.out);
    }
    assert_eq!(shown.matches(TRUST).count(), 1, "{}", yes.out);
    // After a yes the file counts, and what it has wrong is shown.
    assert_eq!(shown.matches("_insts.toml:2: unknown key `mood`, ignored").count(), 1, "{}", yes.out);
    assert!(!shown.contains("is ignored: it is not trusted"), "{}", yes.out);
    let again = on_terminal(home.command(&args), &[]);
    assert!(!again.out.contains(TRUST), "{}", again.out);
}

#[test]
fn a_turn_of_many_asks_one_question_about_all_that_it_needs() {
    for terminal in [true, false] {
        let bot = Bot::saying("planner = 'off'", &["Hello."; 16]);
        let home = &bot.home;
        let url = bot.server().url();
        let key = home.work().join("keys/key.sh");
        home.write(
            "config/config.toml",
            format!(
                "{}\n[[models]]\nname = \"own\"\nprovider = \"cli\"\ncommand = [\"sh\", \"-c\", \"echo Hi.\"]\n\
                 [[models]]\nname = \"keyed\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}/v1\"\n\
                 api_key_command = [\"sh\", {key:?}]\n",
                home.read("config/config.toml")
            ),
        );
        home.write("work/keys/key.sh", "echo canary-key\n");
        home.ok(&["init"]);
        std::fs::remove_dir_all(home.path().join("state/lepo/made")).unwrap();
        home.write_insts("general = 'Speak as the clone says.'\n");
        let args = ["do", "-n", "--parallel", "--participants", "own,test,keyed", "q"];
        let first = ask(home, &args);
        assert!(first.out.contains("## keyed"), "{}", first.err);
        assert_eq!(asked_of(&bot).matches("as the clone says").count(), 0);
        home.write("work/keys/key.sh", "touch \"$HOME/TRIPPED\"; echo canary-key\n");
        if !terminal {
            let ran = ask(home, &args);
            assert_eq!((ran.code, ran.out.as_str()), (0, "## test\n\nHello.\n"), "{}", ran.err);
            assert!(ran.err.contains("own failed") && ran.err.contains("keyed failed"), "{}", ran.err);
            assert!(!tripped(home));
            continue;
        }
        let no = on_terminal(home.command(&args), &[(TRUST, "n\n")]);
        assert!(!tripped(home) && no.out.contains("own failed"), "{}", no.out);
        std::fs::remove_file(home.path().join("state/lepo/trusted-folders")).unwrap();
        let yes = on_terminal(home.command(&args), &[(TRUST, "y\n")]);
        let shown = yes.out.replace(['\r', '\n'], " ");
        for part in [
            "keys/key.sh",
            "+touch",
            "A yes starts it as it is now, too.",
            "Not trusted yet: ",
            "_insts.toml",
            "Programs of yours (sh) may run files of the folder they start in. Trust ~/work?",
        ] {
            assert!(shown.contains(part), "{part}: {}", yes.out);
        }
        assert_eq!(shown.matches(TRUST).count(), 1, "{}", yes.out);
        assert!(!shown.contains("failed") && tripped(home), "{}", yes.out);
        assert!(asked_of(&bot).contains("as the clone says"), "{}", asked_of(&bot));
        let again = on_terminal(home.command(&args), &[]);
        assert!(!again.out.contains(TRUST) && !again.out.contains("failed"), "{}", again.out);
    }
}

fn asked_of(bot: &Bot) -> String {
    bot.bodies().iter().map(Value::to_string).collect()
}

/// The folder that a server says it works in, and the roots that it was told.
fn told_of(home: &Home, server: &str) -> (String, Vec<String>) {
    let lines = left(home, server, "folder");
    let roots: Value = serde_json::from_str(&left(home, server, "roots").concat()).unwrap_or_default();
    let roots = roots.as_array().into_iter().flatten();
    (
        lines.last().cloned().unwrap_or_default(),
        roots.map(|root| root["uri"].as_str().unwrap().into()).collect(),
    )
}

/// A server that notes the folder it starts in and asks for its roots.
const ROOTED: &str = r#"
import json, os, sys
left = sys.argv[1]
open(left + "/folder", "a").write(os.getcwd() + "\n")
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        capabilities = message["params"]["capabilities"]
        say({"id": message["id"], "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}})
    elif method == "notifications/initialized":
        if "roots" in capabilities: say({"id": "r", "method": "roots/list"})
    elif message.get("id") == "r":
        open(left + "/roots", "w").write(json.dumps(message["result"]["roots"]))
    elif method == "tools/list":
        say({"id": message["id"], "result": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}})
    elif "id" in message:
        say({"id": message["id"], "error": {"code": -32601, "message": "no"}})
"#;

#[test]
fn a_server_elsewhere_is_told_the_worktree_and_each_starts_where_its_cwd_says() {
    let home = Home::with_config("");
    home.ok(&["init"]);
    home.write("rooted.py", ROOTED);
    for folder in ["work/sub", "work/none", "elsewhere"] {
        home.write(&format!("{folder}/.here"), "");
    }
    let script = home.path().join("rooted.py");
    let server = |name: &str, cwd: Option<&str>| {
        home.write(&format!("left/{name}/.here"), "");
        json!({ "command": "python3", "args": [script, home.path().join("left").join(name)], "cwd": cwd })
    };
    let elsewhere = home.path().join("elsewhere").canonicalize().unwrap();
    let elsewhere = elsewhere.to_str().unwrap();
    configure_only(
        &home,
        &[
            ("plain", server("plain", None)),
            ("sub", server("sub", Some("sub"))),
            ("own-none", server("own-none", Some("./none"))),
            ("none", server("none", Some("none"))),
            ("absolute", server("absolute", Some(elsewhere))),
        ],
    );
    let work = home.work().canonicalize().unwrap();
    let root = format!("file://{}", work.display());
    let empty = home.path().join("state/lepo/empty").canonicalize();
    let list = |home: &Home| ask(home, &["do", "--list-tools"]);
    let ran = list(&home);
    let empty = empty.unwrap_or_else(|_| home.path().canonicalize().unwrap().join("state/lepo/empty"));
    let in_empty = |name: &str| told_of(&home, name).0.starts_with(empty.to_str().unwrap());
    assert!(in_empty("plain") && in_empty("none"), "{:?}", told_of(&home, "plain"));
    assert_eq!(told_of(&home, "absolute"), (elsewhere.to_string(), vec![root.clone()]));
    assert_eq!(told_of(&home, "plain").1, std::slice::from_ref(&root));
    for refused in ["sub", "own-none"] {
        assert_eq!(told_of(&home, refused).0, "", "{refused}");
        assert!(
            ran.err.contains(&format!("server {refused} cannot be used: its `cwd` is in")),
            "{}",
            ran.err
        );
    }
    assert!(ran.err.contains("`lepo trust`"), "{}", ran.err);
    give_trust(&home);
    std::fs::remove_file(home.path().join("left/plain/roots")).unwrap();
    list(&home);
    for (name, folder) in
        [("plain", work.clone()), ("sub", work.join("sub")), ("own-none", work.join("none"))]
    {
        assert_eq!(told_of(&home, name), (folder.display().to_string(), vec![]), "{name} starts there");
    }
    assert!(in_empty("none"));
    // Each was started once for each list.
    assert_eq!(left(&home, "plain", "folder").len(), 2);
    assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0, "nothing stays of the empty folders");
}

#[test]
fn a_server_that_needs_the_folder_is_named_with_the_way_to_trust_it() {
    let home = Home::with_config("");
    home.ok(&["init"]);
    home.write("work/tools/server.py", ROOTED);
    configure_only(
        &home,
        &[
            ("s", json!({ "command": "python3", "args": ["tools/server.py", home.path()] })),
            ("lost", json!({ "command": "no-such-program-for-lepo" })),
            ("below", json!({ "command": "python3", "cwd": "tools" })),
        ],
    );
    let ran = ask(&home, &["do", "--list-tools"]);
    for never in ["lost", "below"] {
        assert!(ran.err.contains(&format!("server {never} cannot be used: ")), "{}", ran.err);
        assert!(!ran.err.contains(&format!("server {never} started in")), "{}", ran.err);
    }
    assert!(ran.err.contains("/work, which is not trusted; `lepo trust` trusts it\n"), "{}", ran.err);
    assert!(ran.err.contains("server s started in an empty folder, because"), "{}", ran.err);
    assert!(ran.err.contains("`lepo trust`"), "{}", ran.err);
    give_trust(&home);
    let ran = ask(&home, &["do", "--list-tools"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn an_editor_is_asked_and_its_answer_is_kept() {
    for (option, is_trusted) in [("allow_always", true), ("reject_always", false)] {
        let bot = with_program(Way::Cli, &["sh", "-c", "echo Hi."]);
        let home = &bot.home;
        home.ok(&["init"]);
        let mut client = Client::start(home, &[]);
        let session = client.session(home);
        let id = client.ask(&session, "q");
        let asked = client.question();
        let words = asked["params"]["toolCall"].to_string();
        assert!(words.contains("Trust ~/work?") && words.contains("Programs of yours (sh)"), "{words}");
        client.choose(&asked, option);
        let ended = client.end(id);
        assert_eq!(ended.is_ok(), is_trusted, "{ended:?}");
        let actual = client.said(&session, "agent_message_chunk");
        assert_eq!(actual.contains("Hi."), is_trusted, "{actual}");
        drop(client);
        assert_eq!(ask(home, &["do", "-n", "q"]).code, if is_trusted { 0 } else { 2 });
    }
}

#[test]
fn an_agent_that_asks_without_end_where_nobody_answers_is_ended() {
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/acp/agent.py");
    let home = Home::with_config(&format!(
        "[[models]]\nname = \"robot\"\nprovider = \"acp\"\ncommand = [\"python3\", {agent:?}, \"plain\"]\nactive = true\n"
    ));
    let ran = ask(&home, &["do", "ask forever"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("robot asked 16 times for permission, and nobody can answer"), "{}", ran.err);
}
