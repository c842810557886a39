//! Public reports of programs that made a server read a conversation again: what changes between two questions, and that
//! each request here begins with all of the one before it.

use serde_json::Value;

use crate::bots::Bot;
use crate::home::{Home, run};
use crate::mcp::{configure, hostile};
use crate::prefix_day::{break_server, make_lists_old, prepare_day, share};
use crate::scripted::openai_sse;

/// A change before a question, and the arguments of `do`.
type Asking = (fn(&Home), &'static [&'static str]);

/// The reports of one kind, the servers and the questions.
struct Case {
    reports: &'static [&'static str],
    servers: &'static [&'static str],
    turns: &'static [Asking],
}

fn nothing(_: &Home) {}

fn offer(home: &Home, server: &str, tools: [&str; 3]) {
    let tools: Vec<String> = tools.map(|name| format!("\"{name}\":\"Says a word.\"")).into();
    home.write(&format!("left/{server}/tools"), format!("{{{}}}", tools.join(",")));
}

fn reorder_tools(home: &Home) {
    offer(home, "s", ["zeta", "mu", "alpha"]);
    make_lists_old(home);
}

fn reorder_servers(home: &Home) {
    let servers: Vec<(&str, Value)> =
        ["t", "s"].iter().map(|name| (*name, hostile(home, name, "from-file"))).collect();
    configure(home, &servers);
}

fn git(home: &Home, args: &[&str]) {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let ran = run(home.program("git", &[&who[..], args].concat()), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
}

const CASES: &[Case] = &[
    // The time, or another text of this moment, before the conversation.
    Case {
        reports: &[
            "https://github.com/goruck/home-generative-agent/issues/617",
            "https://github.com/NousResearch/hermes-agent/pull/18547",
            "https://github.com/jayzeng/pi-memory/issues/12",
            "https://github.com/SimonSchubert/Kai/issues/349",
            "https://github.com/open-webui/computer/issues/238",
            "https://github.com/yc-software/qm/pull/971",
        ],
        servers: &[],
        turns: &[(nothing, &["one"]), (nothing, &["two"]), (nothing, &["three"])],
    },
    // A program that starts again in between.
    Case {
        reports: &[
            "https://github.com/anthropics/claude-code/issues/42338",
            "https://github.com/anthropics/claude-code/issues/51764",
            "https://github.com/anthropics/claude-code/issues/66005",
            "https://github.com/anthropics/claude-code/issues/93490",
        ],
        servers: &["s"],
        turns: &[(nothing, &["one"]), (nothing, &["--tail", "@", "two"]), (nothing, &["three"])],
    },
    // The list of skills moves to the newest message.
    Case {
        reports: &[
            "https://github.com/anthropics/claude-code/issues/43657",
            "https://github.com/anthropics/claude-code/issues/67497",
        ],
        servers: &[],
        turns: &[(nothing, &["one"]), (nothing, &["-T", "day", "greet"]), (nothing, &["three"])],
    },
    // The instructions of the repository are written again, with the same text or another one.
    Case {
        reports: &[
            "https://github.com/multica-ai/multica/issues/6008",
            "https://github.com/open-gsd/gsd-pi/issues/108",
        ],
        servers: &[],
        turns: &[
            (nothing, &["one"]),
            (|home| home.write("work/AGENTS.md", "Be kind."), &["two"]),
            (|home| home.write("work/AGENTS.md", "Be kind, and brief."), &["three"]),
            (nothing, &["four"]),
        ],
    },
    // The system prompt is edited while a conversation uses it.
    Case {
        reports: &["https://github.com/mnemosyne-systems/orangu/issues/159"],
        servers: &[],
        turns: &[
            (nothing, &["one"]),
            (|home| home.write("config/system_prompt.txt", "Another one."), &["two"]),
        ],
    },
    // The state of the worktree.
    Case {
        reports: &["https://github.com/gptme/gptme/issues/2724"],
        servers: &[],
        turns: &[
            (nothing, &["one"]),
            (
                |home| {
                    home.write("work/new.txt", "x");
                    git(home, &["add", "new.txt"]);
                    git(home, &["commit", "-q", "-m", "x"]);
                    git(home, &["switch", "-q", "-c", "other"]);
                },
                &["two"],
            ),
        ],
    },
    // Tools in another order.
    Case {
        reports: &[
            "https://github.com/openclaw/openclaw/pull/58037",
            "https://github.com/langchain-ai/deepagents/pull/2497",
            "https://github.com/googleapis/mcp-toolbox/issues/3463",
            "https://github.com/Hmbown/Codewhale/pull/1319",
            "https://github.com/NousResearch/hermes-agent/issues/27339",
        ],
        servers: &["s"],
        turns: &[(nothing, &["one"]), (reorder_tools, &["two"]), (nothing, &["three"])],
    },
    // Servers in another order.
    Case {
        reports: &[
            "https://github.com/librefang/librefang/issues/3765",
            "https://github.com/coder/coder/pull/24075",
            "https://github.com/anomalyco/opencode/pull/24339",
            "https://github.com/google-gemini/gemini-cli/pull/12615",
        ],
        servers: &["s", "t"],
        turns: &[(nothing, &["one"]), (reorder_servers, &["two"]), (break_server, &["three"])],
    },
    // Old results are cut anew as a conversation grows.
    Case {
        reports: &[
            "https://github.com/openclaw/openclaw/issues/95219",
            "https://github.com/openclaw/openclaw/issues/111085",
            "https://github.com/openclaw/openclaw/issues/132008",
            "https://github.com/LibreChat-AI/agents/pull/497",
        ],
        servers: &[],
        turns: &[
            (nothing, &["--run", "seq 1 9000", "one"]),
            (nothing, &["--run", "seq 9000 18000", "two"]),
            (nothing, &["--run", "seq 1 20000", "three"]),
            (nothing, &["four"]),
            (nothing, &["five"]),
        ],
    },
    // An image leaves after its turn.
    Case {
        reports: &["https://github.com/zeroclaw-labs/zeroclaw/issues/10888"],
        servers: &[],
        turns: &[(nothing, &["--attach", "dot.png", "one"]), (nothing, &["two"]), (nothing, &["three"])],
    },
    // A reminder beside a question that later requests lack.
    Case {
        reports: &[
            "https://github.com/alvinunreal/oh-my-opencode-slim/pull/790",
            "https://github.com/anthropics/claude-agent-sdk-typescript/issues/263",
            "https://github.com/miurla/morphic/issues/969",
        ],
        servers: &[],
        turns: &[(nothing, &["-x", "one"]), (nothing, &["-x", "two"]), (nothing, &["three"])],
    },
    // Text from elsewhere that is read anew.
    Case {
        reports: &[
            "https://github.com/EasyMetaAu/helm-api/pull/231",
            "https://github.com/open-webui/open-webui/issues/30239",
            "https://github.com/NousResearch/hermes-agent/pull/1203",
        ],
        servers: &[],
        turns: &[
            (nothing, &["--file", "notes.txt", "one"]),
            (|home| home.write("work/notes.txt", "Other notes."), &["two"]),
            (nothing, &["--context", "notes.txt", "three"]),
            (|home| home.write("work/notes.txt", "Third notes."), &["four"]),
        ],
    },
    // Another model in between.
    Case {
        reports: &["https://github.com/NousResearch/hermes-agent/issues/100336"],
        servers: &["s"],
        turns: &[(nothing, &["one"]), (nothing, &["-m", "other", "two"]), (nothing, &["three"])],
    },
];

#[test]
fn each_request_begins_with_the_last_one_whatever_changes_around_it() {
    for case in CASES {
        let replies = case.turns.iter().map(|_| openai_sse(["```\nYes.\n```"]));
        let bot = Bot::openai("planner = 'native'", replies);
        let home = &bot.home;
        prepare_day(home);
        home.write("work/notes.txt", "Notes.");
        let servers: Vec<(&str, Value)> =
            case.servers.iter().map(|name| (*name, hostile(home, name, "from-file"))).collect();
        case.servers.iter().for_each(|name| offer(home, name, ["alpha", "mu", "zeta"]));
        configure(home, &servers);
        for (change, args) in case.turns {
            change(home);
            let ran = home.alone(&[&["do"], *args].concat());
            assert_eq!(ran.code, 0, "{:?} {args:?}: {}", case.reports, ran.err);
        }
        let bodies = bot.bodies();
        assert_eq!(bodies.len(), case.turns.len(), "{:?}", case.reports);
        for (last, now) in bodies.iter().zip(&bodies[1..]) {
            assert!(share(last, now) >= 99, "{:?}: {} %", case.reports, share(last, now));
        }
    }
}
