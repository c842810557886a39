//! Signals: the exit code is theirs, what came is kept, and nothing that was started is left.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::bots::Bot;
use crate::disk::{bubbs, forest, journal, spools};
use crate::home::{DEADLINE, Home, finish};
use crate::pty::on_terminal;
use crate::scripted::{Piece, Reply, openai_event, openai_sse, openai_stream};

const OFF: &str = "planner = \"off\"";
const SIGNALS: [(Signal, i32); 3] = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];

/// Starts it with pipes, whatever signals this test's own parent wants ignored.
fn start(home: &Home, args: &[&str]) -> Child {
    let lepo = env!("CARGO_BIN_EXE_lepo");
    let mut command = home.program("env", &[&["--default-signal", lepo], args].concat());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// A reply that says `text` and then nothing more.
fn begun(text: &str) -> Reply {
    Reply::pieces([Piece::Bytes(openai_event(json!({"content": text}), None).into_bytes()), Piece::Wait])
}

/// Waits until it has printed `text`.
fn await_out(child: &mut Child, text: &str) {
    let mut seen = vec![0; text.len()];
    child.stdout.as_mut().unwrap().read_exact(&mut seen).unwrap();
    assert_eq!(String::from_utf8_lossy(&seen), text);
}

/// Waits until `found` gives something; a failure, not a pause.
fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < DEADLINE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// No process of this id runs any more.
fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

#[test]
fn while_nothing_has_come_the_question_is_all_there_is() {
    for (signal, code) in SIGNALS {
        let bot = Bot::openai(OFF, [Reply::pieces([Piece::Wait]), openai_sse(["Paris."])]);
        let child = start(&bot.home, &["do", "--json", "Capital?"]);
        bot.server().await_asked(1);
        send(&child, signal);
        let ran = finish(child);
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains("the question is kept: `lepo do --retry` answers it"), "{}", ran.err);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A");
        let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(document["user"], json!(bubbs(&bot.home)[1].id));
        assert_eq!(bot.lepo(&["do", "--retry"]).out, "Paris.\n");
    }
}

#[test]
fn on_a_branch_the_hint_names_it_and_the_branch_moves_to_the_answer() {
    let replies = [openai_sse(["One."]), Reply::pieces([Piece::Wait]), openai_sse(["Paris."])];
    let bot = Bot::openai(OFF, replies);
    assert_eq!(bot.lepo(&["do", "first"]).code, 0);
    bot.home.ok(&["branch", "main"]);
    let child = start(&bot.home, &["do", "--tail", "main", "Capital?"]);
    bot.server().await_asked(2);
    send(&child, Signal::TERM);
    let ran = finish(child);
    assert!(ran.err.contains("`lepo do --tail main --retry` answers it"), "{}", ran.err);
    assert_eq!(bot.lepo(&["do", "--tail", "main", "--retry"]).out, "Paris.\n");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D");
    assert_eq!(bot.home.ok(&["resolve", "main"]), bot.home.ok(&["resolve", "@"]));
}

#[test]
fn while_it_streams_what_came_is_kept_and_shown_as_stopped() {
    for (signal, code) in SIGNALS {
        let bot = Bot::openai(OFF, [begun("반쪽"), openai_sse(["Paris."])]);
        let mut child = start(&bot.home, &["do", "Capital?"]);
        await_out(&mut child, "반쪽");
        send(&child, signal);
        let ran = finish(child);
        assert_eq!((ran.code, ran.out.as_str()), (code, "\n"));
        assert!(ran.err.starts_with("error: interrupted\n"), "{}", ran.err);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B");
        assert!(spools(&bot.home).is_empty());
        let partial = bubbs(&bot.home).pop().unwrap();
        for args in [&["show"][..], &["show", "-a"]] {
            let shown = bot.home.ok(args);
            assert!(shown.contains(&format!("# assistant {} (stopped)\n반쪽\n", partial.id)), "{shown}");
        }
        assert_eq!(journal(&bot.home)[0]["what"], "partial");
        assert_eq!(bot.lepo(&["do", "--retry"]).out, "Paris.\n");
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D a0 B");
    }
}

#[test]
fn while_the_planner_is_asked_the_question_is_all_there_is() {
    let bot = Bot::openai("", [begun("{\"tool\":")]);
    let child = start(&bot.home, &["do", "--json", "Capital?"]);
    bot.server().await_asked(1);
    send(&child, Signal::INT);
    let ran = finish(child);
    assert_eq!(ran.code, 130);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["error"]["kind"], "interrupted");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A");
}

#[test]
fn a_running_command_ends_with_all_it_started() {
    for (signal, code) in SIGNALS {
        let bot = Bot::saying(OFF, &[]);
        let tree = "setsid sh -c 'echo $$ > deep; exec sleep 600' & (trap '' TERM HUP INT; echo $$ > stubborn; \
                    while :; do sleep 600; done) & echo $$ > leader; sleep 600";
        let child = start(&bot.home, &["do", "q", "--run", tree]);
        let pids = ["deep", "stubborn", "leader"].map(|file| {
            let read = || Some(bot.home.read(&format!("work/{file}"))).filter(|pid| pid.ends_with('\n'));
            until("the command did not start", read).trim().to_string()
        });
        send(&child, signal);
        assert_eq!(finish(child).code, code);
        for pid in &pids {
            assert!(is_gone(pid), "{pid} is still there");
        }
        assert_eq!(forest(&bot.home), "A s1 head");
        assert_eq!(bot.times_asked(), 0);
    }
}

#[test]
fn a_command_that_is_stopped_is_no_part_of_an_answer() {
    let request = r#"{"access":"full","command":"echo $$ > leader; sleep 600"}"#;
    let call = json!({"tool_calls": [{"index": 0, "id": "x", "type": "function",
        "function": {"name": "run_command", "arguments": request}}]});
    let calls = openai_event(call, None) + &openai_event(json!({}), Some("tool_calls")) + "data: [DONE]\n\n";
    let bot = Bot::openai("planner = \"native\"", [Reply::new(200, calls)]);
    let bubb = bot.lepo(&["do", "q"]);
    assert_eq!(bubb.code, 4, "{}", bubb.err);
    let id = bubbs(&bot.home).pop().unwrap().id;
    let child = start(&bot.home, &["do", "--approve", &id]);
    until("the command did not start", || Some(()).filter(|()| bot.home.work().join("leader").exists()));
    send(&child, Signal::INT);
    let ran = finish(child);
    assert_eq!(ran.code, 130, "{}", ran.err);
    assert!(ran.err.contains("hint: the question is kept") && !ran.err.contains("partial"), "{}", ran.err);
}

#[test]
fn a_program_that_answers_ends_too() {
    let script = "echo $$ > leader; sh -c 'echo $$ > child; exec sleep 600' & printf half; wait";
    let config = format!(
        "{OFF}\n[[models]]\nname = \"p\"\nprovider = \"cli\"\nactive = true\ncommand = [\"sh\", \"-c\", {script:?}]\n"
    );
    let home = Home::with_config(&config).trusting();
    let mut child = start(&home, &["do", "q"]);
    await_out(&mut child, "half");
    let pids = ["leader", "child"].map(|file| {
        let read = || Some(home.read(&format!("work/{file}"))).filter(|pid| pid.ends_with('\n'));
        until("the program did not start", read).trim().to_string()
    });
    send(&child, Signal::INT);
    assert_eq!(finish(child).code, 130);
    for pid in pids {
        until("the program is still there", || is_gone(&pid).then_some(()));
    }
    assert_eq!(forest(&home), "A s1 head / B u0 A / C a1 B");
}

#[test]
fn a_question_of_consent_can_be_left() {
    let request = r#"{"access":"read","command":"touch ran"}"#;
    for (key, code) in [("\x03", 130), ("\x04", 130), ("{TERM}", 143), ("{HUP}", 129)] {
        let bot = Bot::saying("", &[r#"{"tool":"command"}"#, request]);
        let mut command = Command::new("env");
        let lepo = bot.home.command(&["do", "q"]);
        command.arg("--default-signal").arg(lepo.get_program()).args(lepo.get_args());
        command
            .current_dir(bot.home.work())
            .envs(lepo.get_envs().map(|(name, value)| (name, value.unwrap())));
        let ran = on_terminal(command, &[("Run it? [y]es ", key)]);
        assert_eq!(ran.code, code, "{}", ran.out);
        assert!(ran.out.contains("\r\nerror: interrupted\r\n"), "{}", ran.out);
        assert!(ran.out.contains("hint: the request waits: "), "{}", ran.out);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D s1 C");
        assert_eq!(bubbs(&bot.home)[3].text, request);
        assert!(!bot.home.work().join("ran").exists());
    }
}

#[test]
fn a_kill_leaves_the_spool_and_the_next_command_saves_it() {
    let bot = Bot::openai(OFF, [begun("반쪽"), openai_sse(["Paris."])]);
    let mut child = start(&bot.home, &["do", "Capital?"]);
    await_out(&mut child, "반쪽");
    let spooled = || spools(&bot.home).into_iter().find(|(_, text)| text == "반쪽");
    let (name, _) = until("nothing was spooled", spooled);
    send(&child, Signal::KILL);
    assert_eq!(finish(child).code, 137);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A");
    let question = bubbs(&bot.home).pop().unwrap().id;
    assert!(name.starts_with(&format!("a0-{question}-")), "{name}");
    assert_eq!(bot.home.ok(&["ls"]), format!("{question} (2): Capital?\n"));
    assert_eq!(bot.lepo(&["do", "--retry"]).out, "Paris.\n");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D a0 B");
    assert_eq!(bubbs(&bot.home)[2].text, "반쪽");
    assert_eq!(spools(&bot.home).len(), 0);
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let first = openai_event(json!({"content": "Par"}), None).into_bytes();
    let rest = openai_stream(["is."]).into_bytes();
    let slow = Reply::pieces([Piece::Wait, Piece::Bytes(first), Piece::Wait, Piece::Bytes(rest)]);
    let bot = Bot::openai(OFF, [slow]);
    let mut command = bot.home.shell("trap '' HUP INT; exec lepo do --no-stdin Capital?");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    bot.server().await_asked(1);
    send(&child, Signal::HUP);
    send(&child, Signal::INT);
    bot.server().release();
    // By now both have come, and the rest of the answer has not.
    await_out(&mut child, "Par");
    bot.server().release();
    let ran = finish(child);
    assert_eq!((ran.code, ran.out.as_str()), (0, "is.\n"), "{}", ran.err);
}
