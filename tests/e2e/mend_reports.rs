//! Public reports of what a first day and a script stumbled on in other tools: no model yet, exit codes, documents on
//! stdout, answers that were stopped, files that are too long, models that cannot be removed.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, spools};
use crate::home::{Home, Ran, finish, until};
use crate::scripted::{Piece, Reply, Server, openai_calls, openai_event, openai_sse, said};
use crate::secrets::github_token;

const OFF: &str = "planner = \"off\"";

/// The report, and a use of lepo like the one that it tells of.
type Case = (&'static str, fn());

fn run_all(cases: &[Case]) {
    for (report, happens) in cases {
        eprintln!("{report}");
        happens();
    }
}

/// The commands in backticks of the hints, without `lepo`.
fn hinted(ran: &Ran) -> Vec<Vec<&str>> {
    let hints = ran.err.lines().filter(|line| line.starts_with("hint: "));
    let quoted = hints.flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted.filter_map(|command| Some(command.strip_prefix("lepo ")?.split(' ').collect())).collect()
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {:?}", ran.out))
}

fn spawned(bot: &Bot, args: &[&str]) -> Child {
    let mut command = bot.home.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A question whose answer gets this signal after its first words.
fn stopped_by(signal: Signal, then: &[&str]) -> (Bot, Ran) {
    let replies = then.iter().map(|answer| openai_sse([*answer]));
    let part = Reply::pieces([said("half an "), Piece::Wait]);
    let bot = Bot::openai(OFF, [part].into_iter().chain(replies));
    let child = spawned(&bot, &["do", "the long question"]);
    until("the part", || spools(&bot.home).iter().any(|(_, text)| text == "half an "));
    kill_process(Pid::from_child(&child), signal).unwrap();
    (bot, finish(child))
}

fn two_models(url: &str) -> Home {
    Home::with_config(&format!(
        "[[models]]\nname = \"cloud\"\nprovider = \"openai\"\nmodel = \"gpt-5\"\napi_key_env = \"NOT_SET\"\n\
         active = true\n[[models]]\nname = \"local\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}/v1\"\n"
    ))
}

#[test]
fn the_first_commands_work_or_say_the_next_one() {
    run_all(&[
        // The list of models needs no model.
        ("https://github.com/sigoden/aichat/issues/513", || {
            assert_eq!(Home::new().lepo(&["model"]).code, 0);
        }),
        // Without a model a question ends at once, and names no model that nobody chose.
        ("https://github.com/anomalyco/opencode/issues/24823", || {
            let ran = Home::new().alone(&["do", "hello"]);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
            assert!(ran.err.starts_with("error: no model is configured\n"), "{}", ran.err);
        }),
        // Each command of the hint exists.
        ("https://github.com/mpfaffenberger/code_puppy/pull/872", || {
            let home = Home::new();
            let ran = home.alone(&["do", "hello"]);
            let hints = hinted(&ran);
            assert!(hints.contains(&vec!["model", "add"]), "{}", ran.err);
            for hint in hints {
                assert_eq!(home.lepo(&[&hint[..], &["--help"]].concat()).code, 0, "{hint:?}");
            }
        }),
        // A server on this machine is asked without a key, although another model has none to send.
        ("https://github.com/simonw/llm/issues/726", || {
            let server = Server::start([openai_sse(["from here"])]);
            let ran = two_models(&server.url()).lepo(&["do", "-m", "local", "hello"]);
            assert_eq!((ran.code, ran.out.as_str()), (0, "from here\n"), "{}", ran.err);
            assert_eq!(server.asked()[0].header("authorization"), None);
        }),
        // A missing key does not break the list.
        ("https://github.com/simonw/llm-mistral/issues/6", || {
            let listed = two_models("http://127.0.0.1:9").ok(&["model"]);
            assert!(listed.contains("cloud") && listed.contains("local"), "{listed}");
        }),
        // The error names the variable of the model that was asked.
        ("https://github.com/sparkfabrik/sparkdock/issues/272", || {
            let ran = two_models("http://127.0.0.1:9").alone(&["do", "hello"]);
            assert_eq!(ran.code, 2);
            assert!(ran.err.contains("NOT_SET") && !ran.err.contains("OPENAI_API_KEY"), "{}", ran.err);
        }),
        // An empty configuration has no model, a broken one is named with its line, and reading needs neither.
        ("https://github.com/simonw/llm/pull/1606", || {
            let home = Home::with_config("");
            assert_eq!(home.lepo(&["model"]).code, 0);
            home.add(&[], "mine");
            home.write("config/config.toml", "# mine\n[[models\n");
            let ran = home.lepo(&["do", "hello"]);
            assert!(ran.code == 2 && ran.err.contains("config.toml:2: "), "{}", ran.err);
            for args in [&["ls"][..], &["show"], &["grep", "mine"], &["log"]] {
                assert!(home.ok(args).contains("mine"), "{args:?}");
            }
        }),
        // A model is added to those that are there.
        ("https://github.com/sigoden/aichat/issues/1216", || {
            let server = Server::start([openai_sse(["yes"])]);
            let home = two_models("http://127.0.0.1:9");
            let url = format!("{}/v1", server.url());
            home.ok(&["model", "add", "third", "--base-url", &url, "--model", "m"]);
            let listed = home.ok(&["model"]);
            for name in ["cloud openai gpt-5 active", "local ", "third "] {
                assert!(listed.lines().any(|line| line.starts_with(name)), "{listed}");
            }
        }),
        // Nothing found to import is an error that says what can be named.
        ("https://github.com/basicmachines-co/basic-memory/issues/57", || {
            for source in ["claude-code", "conversations.json"] {
                let ran = Home::new().lepo(&["import", source]);
                assert!(ran.code != 0 && ran.err.contains("hint: "), "{}", ran.err);
            }
        }),
    ]);
}

#[test]
fn a_failure_has_its_exit_code_and_is_no_answer() {
    run_all(&[
        // The server refuses the request.
        ("https://github.com/PrimeIntellect-ai/prime-agent/issues/2404", || {
            let bot = Bot::openai(OFF, [Reply::new(400, "{\"error\":{\"message\":\"no such field\"}}")]);
            let ran = bot.lepo(&["do", "q"]);
            assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
            assert!(ran.err.contains("no such field"), "{}", ran.err);
        }),
        // The key is wrong.
        ("https://github.com/docker/docker-agent/issues/335", || {
            let bot = Bot::openai(OFF, [Reply::new(401, "no")]);
            assert_eq!(bot.lepo(&["do", "q"]).code, 3);
        }),
        // No such model.
        ("https://github.com/anomalyco/opencode/issues/15558", || {
            let bot = Bot::saying(OFF, &["one"]);
            let ran = bot.lepo(&["do", "-m", "invalid-model-123", "q"]);
            assert_eq!((ran.code, ran.out.as_str(), bot.times_asked()), (2, "", 0), "{}", ran.err);
        }),
        // A name that is nearly right: the one that was meant is named first.
        ("https://github.com/anomalyco/opencode/issues/47162", || {
            let ran = two_models("http://127.0.0.1:9").lepo(&["do", "-m", "lokal", "q"]);
            assert!(ran.code == 2 && ran.err.contains("hint: did you mean local?"), "{}", ran.err);
        }),
        // A command that is nearly one of lepo's is no question.
        ("https://github.com/MervinPraison/PraisonAI/issues/4114", || {
            let bot = Bot::saying(OFF, &["one"]);
            for (args, meant) in
                [(&["shwo"][..], "lepo show"), (&["do", "--max-tokns", "5", "q"], "--max-tokens")]
            {
                let ran = bot.lepo(args);
                assert_eq!((ran.code, bot.times_asked()), (2, 0), "{}", ran.err);
                assert!(ran.err.contains(&format!("did you mean `{meant}`?")), "{}", ran.err);
            }
        }),
        // An option that is nearly one does not become a part of what is looked for.
        ("https://github.com/vshulcz/deja-vu/issues/755", || {
            let home = Home::new();
            home.add(&[], "the pool");
            let ran = home.lepo(&["grep", "pool", "--ignore-cas"]);
            assert!(ran.code == 2 && ran.err.contains("`--ignore-case`"), "{}", ran.err);
        }),
        // A command that nobody may agree to has not run.
        ("https://github.com/anthropics/claude-code/issues/76867", || {
            let call = json!({ "command": "touch made", "access": "write" }).to_string();
            let bot = Bot::openai("planner = \"native\"", [openai_calls("", &[("run_command", &call)])]);
            let ran = bot.home.alone(&["do", "--json", "make it"]);
            assert_eq!(ran.code, 4, "{}", ran.err);
            assert!(document(&ran)["answer"].is_null() && !document(&ran)["pending"].is_null());
            assert!(!bot.home.work().join("made").exists());
        }),
        // The answer was cut by the limit.
        ("https://github.com/google-gemini/gemini-cli/pull/2260", || {
            let cut = openai_event(json!({ "content": "Once" }), Some("length"));
            let bot = Bot::openai(OFF, [Reply::pieces([Piece::Bytes(cut.into_bytes())])]);
            let ran = bot.lepo(&["do", "q"]);
            assert!(ran.out == "Once\n" && ran.err.contains("max_tokens"), "{}", ran.err);
        }),
        // What does not fit into the budget is not sent.
        ("https://github.com/bircex/llmr/issues/40", || {
            let prices = "[[prices]]\nmodel = 'te*'\ninput = 0\noutput = 1000000\n";
            let bot = Bot::saying(&format!("{OFF}\n{prices}"), &["one"]);
            let ran = bot.lepo(&["do", "--max-cost", "1", "--max-tokens", "50", "q"]);
            assert_eq!((ran.code, bot.times_asked()), (3, 0), "{}", ran.err);
        }),
        // Comparing tells by its code that two differ, as a document too.
        ("https://github.com/ulises-jeremias/agent-toolkit/issues/53", || {
            let bot = Bot::saying(OFF, &["one", "two", "one", "one"]);
            for (question, code) in [("a", 1), ("b", 0)] {
                assert_eq!(bot.lepo(&["do", "-n", question]).code, 0);
                assert_eq!(bot.lepo(&["do", "--retry"]).code, 0);
                let ran = bot.lepo(&["diff", "--turns", "--json"]);
                assert_eq!(ran.code, code, "{} {}", ran.out, ran.err);
                document(&ran);
            }
        }),
    ]);
}

#[test]
fn stdout_is_one_document_whatever_is_said_besides() {
    run_all(&[
        // A new store, a note, and an answer.
        ("https://github.com/google/agents-cli/issues/69", || {
            let bot = Bot::saying(OFF, &["one"]);
            bot.home.write("work/f.txt", "text");
            let ran = bot.lepo(&["do", "--json", "-f", "f.txt", "q"]);
            assert_eq!(document(&ran)["answer"]["text"], "one");
            assert!(!ran.made.is_empty(), "{}", ran.err);
        }),
        // The output of a command on the way.
        ("https://github.com/apify/apify-cli/issues/740", || {
            let bot = Bot::saying(OFF, &["one"]);
            assert_eq!(
                document(&bot.lepo(&["do", "--json", "--run", "echo noise", "q"]))["error"],
                Value::Null
            );
        }),
        // A failure has its document.
        ("https://github.com/openclaw/openclaw/issues/128483", || {
            let home = Home::new();
            home.add(&[], "mine");
            for args in
                [&["ls", "--json", "nobody"][..], &["show", "--json", "nobody"], &["log", "--json", "x..y"]]
            {
                let ran = home.lepo(args);
                assert!(ran.code == 2 && document(&ran)["error"]["message"].is_string(), "{args:?}");
            }
        }),
        // Also that of the command line itself.
        ("https://github.com/openclaw/openclaw/issues/128516", || {
            let ran = Home::new().lepo(&["do", "--json", "--no-such-option", "q"]);
            assert!(ran.code == 2 && document(&ran)["error"]["kind"] == "usage", "{} {}", ran.out, ran.err);
        }),
        // A change that is told as a document has nothing before it.
        ("https://github.com/openclaw/openclaw/issues/70889", || {
            let home = Home::new();
            home.add(&["--prev", "head"], "mine");
            document(&home.lepo(&["rebase", "@", "--system", "Other.", "--json"]));
        }),
        // What a model wrote in Markdown is the same bytes in a pipe.
        ("https://github.com/TheR1D/shell_gpt/issues/726", || {
            let text = "# Head\n\n- *one*\n```sh\nls\n```";
            let bot = Bot::saying(OFF, &[text]);
            assert_eq!(bot.lepo(&["do", "q"]).out, format!("{text}\n"));
            assert_eq!(bot.home.ok(&["show", "-1"]).trim_end(), text);
        }),
    ]);
}

#[test]
fn what_was_asked_and_what_came_are_there_after_a_signal() {
    run_all(&[
        // Ctrl+C: the question is in the history.
        ("https://github.com/anthropics/claude-code/issues/53839", || {
            let (bot, ran) = stopped_by(Signal::INT, &[]);
            assert_eq!(ran.code, 130, "{}", ran.err);
            assert!(bot.home.ok(&["show", "-a"]).contains("the long question"));
        }),
        // It clears nothing: the next question goes on with what came.
        ("https://github.com/kharvd/gpt-cli/issues/43", || {
            let (bot, _) = stopped_by(Signal::INT, &["on"]);
            assert_eq!(bot.lepo(&["do", "go on"]).out, "on\n");
            let sent: Vec<String> = messages(&bot.bodies()[1]).into_iter().map(|(_, text)| text).collect();
            assert!(sent.iter().any(|text| text.contains("the long question")), "{sent:?}");
            assert!(sent.iter().any(|text| text.contains("half an")), "{sent:?}");
        }),
        // How to go on is said, and works.
        ("https://github.com/langchain-ai/deepagents/pull/5412", || {
            let (bot, ran) = stopped_by(Signal::INT, &["again"]);
            assert!(ran.err.contains("`lepo do --retry`"), "{}", ran.err);
            assert_eq!(bot.lepo(&["do", "--retry"]).out, "again\n");
        }),
        // SIGTERM.
        ("https://github.com/can1357/oh-my-pi/issues/10965", || {
            let (bot, ran) = stopped_by(Signal::TERM, &[]);
            assert_eq!(ran.code, 143, "{}", ran.err);
            assert!(bubbs(&bot.home).iter().any(|bubb| bubb.text == "half an "));
        }),
        // SIGKILL before the first word: no empty message is sent afterwards.
        ("https://github.com/MoonshotAI/kimi-code/issues/1404", || {
            let bot = Bot::openai(OFF, [openai_sse(["never"]).held(), openai_sse(["on"])]);
            let mut child = spawned(&bot, &["do", "the long question"]);
            bot.server().await_asked(1);
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(bot.lepo(&["do", "go on"]).out, "on\n");
            assert!(messages(&bot.bodies()[1]).iter().all(|(_, text)| !text.is_empty()));
        }),
        // A part that a kill left is shown again.
        ("https://github.com/QwenLM/qwen-code/issues/10710", || {
            let (bot, _) = stopped_by(Signal::KILL, &["on"]);
            assert_eq!(bot.lepo(&["do", "go on"]).out, "on\n");
            assert!(
                bot.home.ok(&["show", "-a", "@"]).contains("half an") || {
                    bubbs(&bot.home).iter().any(|bubb| bubb.text == "half an ")
                }
            );
        }),
        // A secret in the output of a command is masked before it is written.
        ("https://github.com/anthropics/claude-code/issues/86707", || {
            let token = github_token(1);
            let bot = Bot::saying(OFF, &["one"]);
            bot.home.write("work/env", &token);
            assert_eq!(bot.lepo(&["do", "--run", "cat env", "q"]).code, 0);
            assert!(bubbs(&bot.home).iter().all(|bubb| !bubb.text.contains(&token)));
        }),
    ]);
}

#[test]
fn too_much_is_not_sent_without_a_yes() {
    run_all(&[
        // A folder with data in it.
        ("https://github.com/cline/cline/issues/7104", || {
            let bot = Bot::saying(OFF, &["one"]);
            bot.home.write("work/data/a.txt", "word ".repeat(60_000));
            bot.home.write("work/data/readme.md", "short");
            let ran = bot.home.alone(&["do", "-f", "data", "q"]);
            assert_eq!((ran.code, bot.times_asked()), (2, 0), "{}", ran.err);
            assert!(ran.err.contains("tokens"), "{}", ran.err);
            assert!(bot.home.work().join(".lepo").read_dir().is_err() || bot.home.bubbs().is_empty());
        }),
        // A file that is longer than the window.
        ("https://github.com/anthropics/claude-code/issues/16390", || {
            let bot = Bot::saying(OFF, &["one"]);
            let config = bot.home.read("config/config.toml");
            bot.home.write("config/config.toml", format!("{config}context = 1000\n"));
            bot.home.write("work/a.txt", "word ".repeat(2_000));
            let ran = bot.home.alone(&["do", "-f", "a.txt", "q"]);
            assert_eq!((ran.code, bot.times_asked()), (2, 0), "{}", ran.err);
        }),
    ]);
}

#[test]
fn a_model_that_was_added_can_be_removed() {
    run_all(&[
        // One of two of a provider.
        ("https://github.com/aaif-goose/goose/issues/3524", || {
            let home = two_models("http://127.0.0.1:9");
            home.ok(&["model", "rm", "local"]);
            let config = home.read("config/config.toml");
            assert!(config.contains("cloud") && !config.contains("local"), "{config}");
        }),
        // The active one: it is said that none is, and how to choose.
        ("https://github.com/Prism-Shadow/penguin-harness/pull/273", || {
            let home = two_models("http://127.0.0.1:9");
            let ran = home.lepo(&["model", "rm", "cloud"]);
            assert!(ran.code == 0 && ran.err.contains("no model is active now"), "{}", ran.err);
            let ran = home.alone(&["do", "q"]);
            assert!(ran.code == 2 && ran.err.contains("configured: local"), "{}", ran.err);
        }),
        // The last one.
        ("https://github.com/truefoundry/trueforge/issues/301", || {
            let home = two_models("http://127.0.0.1:9");
            home.ok(&["model", "rm", "local"]);
            home.ok(&["model", "rm", "cloud"]);
            assert!(!home.read("config/config.toml").contains("[[models]]"));
            let server = Server::start([openai_sse(["yes"])]);
            let url = format!("{}/v1", server.url());
            home.ok(&["model", "add", "new", "--base-url", &url, "--model", "m"]);
            assert!(home.ok(&["model"]).contains("new openai m active"));
        }),
    ]);
}
