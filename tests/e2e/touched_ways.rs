//! Ways of a sandboxed command to code that a program of the configuration runs, by program.

use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::sandbox::world::{bubblewrap_works, users};
use crate::touched_files::{PLAIN, PYTHON, SERVER, START, Scene, TRIP, call, command, done};

/// The change to a file of Node.
const TRIP_JS: &str = "echo \"require('fs').writeFileSync(process.env.HOME + '/RAN', '')\" >";

/// Ways of a command to code that a server runs: the files that are there, the words of the server, the command, and the
/// file that is asked about.
type Way = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
    &'static str,
    &'static str,
);

const PYC: &str = "mkdir -p e && cat > e/helper.py TRIP\npython3 -c \"import py_compile, importlib.util as u; \
    py_compile.compile('e/helper.py', u.cache_from_source('tools/helper.py'), \
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\"";
const BIN: &str = "mkdir -p node_modules/.bin; printf '#!/bin/sh\\ntouch $HOME/RAN\\n' > node_modules/.bin/python3; \
    chmod +x node_modules/.bin/python3";
const ABOVE: &str =
    "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'lib'))\nimport tool\n";
const MANY: &str =
    "i=0; while [ $i -lt 2100 ]; do : > tools/a$i.py; i=$((i+1)); done; cat > tools/json.py TRIP";

const SCRIPT: &[(&str, &str)] = &[("tools/server.ts", "")];
const REQUIRE: &str =
    "TRIPJS first.js; echo '{\"ts-node\": {\"require\": [\"./first.js\"]}}' > tsconfig.json";

/// The settings are new, and name a file that is.
const REQUIRED: &str = "first.js\" and 1 more";

const WAYS: &[Way] = &[
    ("a compiled module", PLAIN, PYTHON, PYC, "tools/__pycache__"),
    (
        "a link to a folder",
        PLAIN,
        PYTHON,
        "mkdir x; cat > x/__init__.py TRIP\nln -s ../x tools/json",
        "tools/json",
    ),
    (
        "a folder that was there, moved",
        &[("tools/server.py", SERVER), ("data/__init__.py", TRIP)],
        PYTHON,
        "mv data tools/json",
        "tools/json/__init__.py",
    ),
    (
        "a link into /proc",
        PLAIN,
        PYTHON,
        "cat > evil.py TRIP\nln -s /proc/self/cwd/evil.py tools/json.py",
        "evil.py\" and 1 more",
    ),
    ("many files before it", PLAIN, PYTHON, MANY, "tools"),
    (
        "a package that looks like a virtual environment",
        &[("tools/server.py", SERVER), ("tools/helper/__init__.py", "")],
        PYTHON,
        ": > tools/helper/pyvenv.cfg; cat > tools/helper/__init__.py TRIP",
        "tools/helper/__init__.py",
    ),
    (
        "a script by a variable",
        &[
            ("run.sh", "here=$(dirname \"$0\")\nexec python3 \"$here/tools/server.py\"\n"),
            ("tools/server.py", SERVER),
        ],
        &["sh", "run.sh"],
        "cat > tools/server.py TRIP",
        "tools/server.py",
    ),
    (
        "a script two steps away",
        &[
            ("run.sh", "here=$(dirname \"$0\")\nexec sh \"$here/lib/next\"\n"),
            ("lib/next", "up=..\nexec python3 \"$(dirname \"$0\")/$up/deep/server.py\"\n"),
            ("deep/server.py", SERVER),
        ],
        &["sh", "run.sh"],
        "cat > deep/server.py TRIP",
        "deep/server.py",
    ),
    (
        "a module beside a program without ending",
        &[("tools/serve", SERVER)],
        &["python3", "tools/serve"],
        "cat > tools/json.py TRIP",
        "tools/json.py",
    ),
    (
        "a file that a Makefile includes",
        &[
            ("Makefile", "include mk/*.mk\nserve:\n\t@python3 tools/server.py\n"),
            ("mk/a.mk", ""),
            ("tools/server.py", SERVER),
        ],
        &["make", "-s", "serve"],
        "echo 'X := $(shell touch $(HOME)/RAN)' > mk/b.mk",
        "mk/b.mk",
    ),
    (
        "a module of -m",
        &[("pkg/__main__.py", SERVER)],
        &["python3", "-m", "pkg"],
        "mkdir e; cat > e/__init__.py TRIP\nmv e json",
        "json/__init__.py",
    ),
    (
        "a module for node",
        &[("tools/server.js", "require('helper');"), ("node_modules/helper/index.js", "")],
        &["node", "tools/server.js"],
        "mkdir -p tools/node_modules/helper; echo \"require('fs').writeFileSync(process.env.HOME + '/RAN', '')\" \
         > tools/node_modules/helper/index.js",
        "tools/node_modules/helper/index.js",
    ),
    (
        "a program for npm's scripts",
        &[
            ("package.json", r#"{"scripts": {"serve": "python3 tools/server.py"}}"#),
            ("tools/server.py", SERVER),
        ],
        &["npm", "run", "-s", "serve"],
        BIN,
        "node_modules/.bin/python3",
    ),
    (
        "a program for npx's line",
        &[("package.json", "{}"), ("tools/server.py", SERVER)],
        &["npx", "-c", "python3 tools/server.py"],
        BIN,
        "node_modules/.bin/python3",
    ),
    (
        "a file that comes before the main one of a package",
        &[("server/package.json", r#"{"main": "app"}"#), ("server/app.js", "")],
        &["node", "server"],
        "TRIPJS server/app",
        "server/app",
    ),
    (
        "a file of node above its script",
        &[("bin/server.js", "require('../lib/x');"), ("lib/x.js", "")],
        &["node", "bin/server.js"],
        "TRIPJS lib/x.js",
        "lib/x.js",
    ),
    (
        "a file that a module beside the script leads to",
        &[("bin/server.js", "require('./next');"), ("bin/next.js", "require('../lib/x');"), ("lib/x.js", "")],
        &["node", "bin/server.js"],
        "TRIPJS lib/x.js",
        "lib/x.js",
    ),
    (
        "a folder of modules above the script",
        &[("bin/server.py", ABOVE), ("lib/tool.py", "")],
        &["python3", "bin/server.py"],
        "cat > lib/tool.py TRIP",
        "lib/tool.py",
    ),
    (
        "a file of ruby above its script",
        &[("bin/server.rb", "require_relative '../lib/x'"), ("lib/x.rb", "")],
        &["ruby", "bin/server.rb"],
        "echo \"File.write(ENV['HOME'] + '/RAN', '')\" > lib/x.rb",
        "lib/x.rb",
    ),
    (
        "a module of perl above its script",
        &[("bin/server.pl", "use FindBin;\nuse lib \"$FindBin::Bin/../lib\";\nuse X;\n"), ("lib/X.pm", "1;")],
        &["perl", "bin/server.pl"],
        "echo 'open(F, \">\", \"$ENV{HOME}/RAN\"); 1;' > lib/X.pm",
        "lib/X.pm",
    ),
    (
        "a class in a folder of java's class path",
        &[("build/Main.class", ""), ("build/Other.class", "")],
        &["java", "-cp", "build", "Main"],
        "echo x > build/Other.class",
        "build/Other.class",
    ),
    (
        "an archive in a folder of java's class path",
        &[("lib/one.jar", "")],
        &["java", "-cp", "none:lib/*", "Main"],
        "echo x > lib/two.jar",
        "lib/two.jar",
    ),
    ("a class of java without a class path", &[], &["java", "Main"], "echo x > Main.class", "Main.class"),
    (
        "an archive that another one may name",
        &[("tools/server.jar", "")],
        &["java", "-jar", "tools/server.jar"],
        "mkdir tools/lib; echo x > tools/lib/one.jar",
        "tools/lib/one.jar",
    ),
    ("settings of ts-node", SCRIPT, &["ts-node", "tools/server.ts"], REQUIRE, REQUIRED),
    (
        "settings of ts-node in node",
        SCRIPT,
        &["node", "-r", "ts-node/register", "tools/server.ts"],
        REQUIRE,
        REQUIRED,
    ),
    ("settings of tsx in node", SCRIPT, &["node", "--import=tsx", "tools/server.ts"], REQUIRE, REQUIRED),
    ("settings of tsx in npx", SCRIPT, &["npx", "tsx", "tools/server.ts"], REQUIRE, REQUIRED),
    (
        "a script that settings name",
        &[
            ("tools/server.ts", ""),
            ("tsconfig.json", r#"{"extends": "./base.json"}"#),
            ("base.json", r#"{"ts-node": {"require": ["./first.js"]}}"#),
            ("first.js", ""),
        ],
        &["ts-node", "tools/server.ts"],
        "TRIPJS first.js",
        "first.js",
    ),
    (
        "settings of a server of Python",
        &[("tools/server.py", "")],
        &["gunicorn", "tools.server:app"],
        "cat > gunicorn.conf.py TRIP",
        "gunicorn.conf.py",
    ),
    (
        "a folder of modules for ruby",
        &[("tools/server.rb", ""), ("lib/x.rb", "")],
        &["ruby", "-Ilib", "tools/server.rb"],
        "echo x > lib/json.rb",
        "lib/json.rb",
    ),
];

#[test]
fn no_way_of_a_command_leads_into_a_program_unasked() {
    if !bubblewrap_works() {
        return;
    }
    // A server that does not start is waited for. An even number: rows alternate between two kinds of access.
    std::thread::scope(|threads| {
        for (user, ways) in users().into_iter().flat_map(|user| WAYS.chunks(8).map(move |ways| (user, ways)))
        {
            threads.spawn(move || try_ways(user, ways));
        }
    });
}

fn try_ways(user: Option<u32>, ways: &[Way]) {
    for (index, (what, files, words, line, file)) in ways.iter().enumerate() {
        let access = ["write", "net"][index % 2];
        let first = [call(), done()];
        let replies = first.into_iter().chain([
            command(access, &line.replace("TRIPJS", TRIP_JS)),
            done(),
            call(),
            done(),
        ]);
        let scene = Scene { user, ..Scene::new(files, replies).serve(words) };
        // The files as they were are agreed to.
        let (ran, result) = scene.alone(&["do", "-n", "x"]);
        let is_server = files.iter().any(|(_, text)| *text == SERVER);
        assert_eq!(is_server, result == "hello there", "{what}: {result} {}", ran.err);
        let (ran, result) = scene.alone(&["do", "-n", "x"]);
        assert!(result.contains("exit code: 0"), "{what}: {result} {}", ran.err);
        assert!(!scene.is_tripped(), "{what}: {}", ran.err);
        if is_server {
            scene.refused(scene.alone(&["do", "-n", "x"]), file, what);
            assert_eq!(scene.calls(), 1, "{what}");
        } else {
            // It lists no tools, so that it starts for its list.
            let ran = scene.alone(&["do", "-n", "x"]);
            scene.refused(ran, file, what);
        }
    }
}

/// Programs of models, which import what a command made.
const MODELS: &str = r#"
[[models]]
name = "program"
provider = "cli"
command = ["python3", "tools/model.py"]

[[models]]
name = "agent"
provider = "acp"
command = ["python3", "tools/model.py"]

[[models]]
name = "keyed"
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:9/v1"
api_key_command = ["python3", "HOME/work/tools/model.py"]
"#;

#[test]
fn models_agents_and_programs_that_print_keys_run_none_either() {
    if !bubblewrap_works() {
        return;
    }
    for (what, _, _, line, file) in WAYS.iter().filter(|(_, files, ..)| *files == PLAIN) {
        let files = [("tools/model.py", "import helper, json; print('Hi.')\n"), ("tools/helper.py", "")];
        let scene = Scene::new(&files, [command("write", line), done()]);
        let config = scene.bot.home.read("config/config.toml") + MODELS;
        scene.bot.home.write("config/config.toml", scene.named(&config));
        for model in ["program", "keyed", "agent"] {
            scene.alone(&["do", "-n", "-m", model, "x"]);
        }
        let (ran, result) = scene.alone(&["do", "-n", "-m", "test", "x"]);
        assert!(result.contains("exit code: 0") && !scene.is_tripped(), "{what}: {result} {}", ran.err);
        for model in ["program", "keyed", "agent"] {
            let (ran, result) = scene.alone(&["do", "-n", "-m", model, "x"]);
            assert_ne!(ran.code, 0, "{what} {model}");
            scene.refused((ran, result), file, &format!("{what}, {model}"));
        }
    }
}

/// A script of the worktree as a model, which may run any of its files.
#[test]
fn a_model_whose_files_a_command_of_the_turn_changed_is_asked_about_within_the_turn() {
    const SCRIPT: &str = "#!/bin/sh\ncd \"$HOME/bot\"\nn=$(($(cat count 2>/dev/null || echo 0) + 1))\necho $n > count\n\
                          cat > asked.$n\ncat answer.$n || exit 7\n";
    const ANSWERS: [&str; 4] = [
        r#"{"tool":"command"}"#,
        r#"{"command":"echo x >> notes","access":"write"}"#,
        r#"{"tool":"none"}"#,
        "Hi.",
    ];
    if !bubblewrap_works() {
        return;
    }
    let home_of = |settings: &str| {
        let model =
            "[[models]]\nname = 'test'\nactive = true\nprovider = 'cli'\ncommand = ['sh', 'tools/ask.sh']\n";
        let home = Home::with_config(&format!("planner = 'chooser'\n{settings}\n{model}")).trusting();
        home.write("work/tools/ask.sh", SCRIPT);
        for (at, answer) in ANSWERS.iter().enumerate() {
            home.write(&format!("bot/answer.{}", at + 1), answer);
        }
        home
    };
    for (answer, code) in [("y\n", 0), ("n\n", 2)] {
        let home = home_of("");
        let ran = on_terminal(home.command(&["do", "x"]), &[("Run it? [y]es ", "y\n"), (START, answer)]);
        assert_eq!(ran.code, code, "{answer:?} {}", ran.out);
        assert!(ran.out.contains("notes"), "{}", ran.out);
        assert_eq!(ran.out.contains("Hi."), code == 0, "{}", ran.out);
    }
    let home = home_of("tool_call_mode = 'auto'\nauto_access = 'write'");
    let ran = run(home.detached(&["do", "x"]), b"");
    assert!(ran.code == 2 && ran.err.contains("`lepo trust`"), "{} {}", ran.code, ran.err);
    assert!(ran.err.contains("\"notes\" is new"), "{}", ran.err);
    assert_eq!(home.read("bot/count").trim(), "2");
}
