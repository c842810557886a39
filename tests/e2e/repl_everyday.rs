//! A session as people use it: the prompt after a withdrawn question, what waits, places, files and tokens.

use serde_json::json;

use crate::bots::Bot;
use crate::disk::{bubbs, forest};
use crate::pty::on_terminal;
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, end, openai_sse, openai_stream, said};

const OFF: &str = "planner = \"off\"";
const NONE: &str = r#"{"tool":"none"}"#;
const COMMAND: &str = r#"{"tool":"command"}"#;
const REQUEST: &str = r#"{"access":"full","command":"echo 한글 >> ran","why":"to see"}"#;

#[test]
fn a_withdrawn_question_gives_the_prompt_back_and_the_request_waits() {
    for withdraw in ["C-c", "C-d"] {
        for columns in [80, 40] {
            let bot = Bot::saying("", &[COMMAND, REQUEST, NONE, "Said."]);
            let Some(screen) = Screen::lepo(&bot.home, columns, &[]) else { return };
            screen.prompts("> ").enters("do it").shows("Run it? [y]es").keys(&[withdraw]).prompts("> ");
            let id = bubbs(&bot.home).pop().unwrap().id;
            screen.becomes("the request's id", || screen.text().replace('\n', " ").contains(&id));
            screen.shows("/approve");
            // Typed text is echoed, and Enter reaches the prompt.
            screen.types("안녕 there").prompts("> 안녕 there").keys(&["C-u"]);
            screen.enters("/approve").shows("Said.").prompts("> ");
            assert_eq!(bot.home.read("work/ran"), "한글\n", "{withdraw} {columns}");
            assert!(forest(&bot.home).starts_with("A s1 head / B u0 A / C s1 B / D s1 C / E s1 D"), "{id}");
            screen.enters("/approve").shows("no request is pending here").enters("exit").ends(0);
        }
    }
}

#[test]
fn a_word_on_the_request_that_waits_may_name_it() {
    let bot = Bot::saying("", &[COMMAND, REQUEST, NONE, "Said."]);
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.prompts("> ").enters("do it").shows("Run it?").keys(&["C-c"]).prompts("> ");
    let id = bubbs(&bot.home).pop().unwrap().id;
    let refused = format!("the pending request here is {id}");
    let other = bubbs(&bot.home)[0].id.clone();
    screen.enters(&format!("/approve {other}")).shows(&refused).prompts("> ");
    screen.enters(&format!("/deny {id} {id}")).shows("/deny takes one id").prompts("> ");
    assert_eq!(bot.home.read("work/ran"), "");
    screen.enters(&format!("/approve {}", id.to_lowercase())).shows("Said.").prompts("> ");
    assert_eq!(bot.home.read("work/ran"), "한글\n");
    screen.enters(&format!("/deny {id}")).shows("no request is pending here").enters("exit").ends(0);
}

#[test]
fn a_session_whose_last_message_is_gone_says_that_a_new_conversation_begins() {
    let bot = Bot::saying(OFF, &["First.", "Second."]);
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.prompts("> ").enters("one").shows("First.").prompts("> ");
    for name in bot.home.bubbs() {
        std::fs::remove_file(bot.home.work().join(".lepo").join(name)).unwrap();
    }
    screen.enters("/retry").shows("no longer exists").prompts("> ");
    screen.enters("two").shows("no longer exists: a new one begins").shows("Second.").prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B");
    screen.enters("exit").ends(0);
}

#[test]
fn a_signal_to_a_session_says_what_is_kept() {
    let bot = Bot::openai(
        "",
        [openai_sse([COMMAND]), openai_sse([REQUEST]), Reply::pieces([said("half "), Piece::Wait, end()])],
    );
    let Some(screen) = Screen::shell(&bot.home, 100) else { return };
    let kill =
        |screen: &Screen| bot.home.shell(&format!("kill -TERM {}", screen.process())).status().unwrap();
    screen.shows("sh$").enters("lepo; echo code $?").prompts("> ");
    screen.enters("do it").shows("Run it?").keys(&["C-c"]).prompts("> ");
    let id = bubbs(&bot.home).pop().unwrap().id;
    kill(&screen);
    screen.shows("code 143");
    let whole = screen.whole().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        whole.contains(&format!("the request waits: `lepo do --approve {id}` carries it out")),
        "{whole}"
    );
    // During an answer it is as in `do`.
    screen.enters("clear; lepo -n --tools off; echo code $?").prompts("> ").enters("go on").shows("half");
    kill(&screen);
    screen.shows("code 143");
    let whole = screen.whole().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(whole.contains("stopped; the next question continues from here"), "{whole}");
}

#[test]
fn a_question_asked_past_a_request_says_that_it_was_dropped() {
    let bot = Bot::saying("", &[COMMAND, REQUEST, NONE, "Other."]);
    let Some(screen) = Screen::lepo(&bot.home, 120, &[]) else { return };
    screen.prompts("> ").enters("do it").shows("Run it?").keys(&["C-c"]).prompts("> ");
    let id = bubbs(&bot.home).pop().unwrap().id;
    screen.shows(&format!("request {id} is waiting"));
    // An answer to the question of consent comes too late, and is no question to a model.
    screen
        .enters("y")
        .shows("y was not sent: a request is waiting; hint:")
        .shows("/approve runs it")
        .prompts("> ");
    screen.enters("never mind").shows(&format!("request {id} was dropped: the conversation moved on"));
    screen.shows("Other.").prompts("> ");
    assert_eq!(bot.home.ok(&["ls", "--pending"]), "");
}

#[test]
fn a_new_session_can_decide_on_the_request_that_it_stands_on() {
    let bot = Bot::saying("", &[COMMAND, REQUEST, NONE, "Said.", COMMAND, REQUEST, "Other.", NONE, "Last."]);
    assert_eq!(crate::home::run(bot.home.detached(&["do", "q"]), b"").code, 4);
    let id = bubbs(&bot.home).pop().unwrap().id;
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.shows("needs approval: echo 한글 >> ran (full)").shows("/approve or /deny it").prompts("> ");
    screen
        .enters("/new")
        .prompts("> ")
        .enters(&format!("/tail {id}"))
        .shows("needs approval: echo")
        .prompts("> ");
    screen.enters("/approve").shows("Said.").prompts("> ").enters("exit").ends(0);
    assert_eq!(bot.home.read("work/ran"), "한글\n");
    drop(screen);

    assert_eq!(crate::home::run(bot.home.detached(&["do", "q"]), b"").code, 4);
    let id = bubbs(&bot.home).pop().unwrap().id;
    let dropped = format!("request {id} was dropped: the conversation moved on");
    let screen = Screen::lepo(&bot.home, 120, &["--tools", "off"]).unwrap();
    screen.prompts("> ").enters("never mind").shows(&dropped).shows("Other.").prompts("> ");
    screen.enters("exit").ends(0);
}

#[test]
fn a_question_under_a_request_says_that_it_was_dropped() {
    let bot = Bot::saying("", &[COMMAND, REQUEST, NONE, "Other."]);
    assert_eq!(crate::home::run(bot.home.detached(&["do", "q"]), b"").code, 4);
    let id = bubbs(&bot.home).pop().unwrap().id;
    let ran = bot.lepo(&["do", "--tail", &id, "never mind"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Other.\n"), "{}", ran.err);
    assert!(ran.err.contains(&format!("note: request {id} was dropped")), "{}", ran.err);
}

#[test]
fn always_allows_the_exact_command_and_a_question_mark_explains() {
    if !crate::sandbox::world::bubblewrap_works() {
        return;
    }
    let ls = r#"{"access":"read","command":"echo one; echo two"}"#;
    let bot = Bot::saying("", &[COMMAND, ls, NONE, "A.", COMMAND, ls, NONE, "B."]);
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.prompts("> ").enters("first").shows("[a]lways");
    screen
        .enters("?")
        .shows("run it, and do not ask again for this exact command")
        .shows("Ctrl+C  decide later");
    screen.enters("a").shows("  | one\n  | two\n").shows("A.").prompts("> ");
    screen.enters("second").shows("Running (auto)").shows("B.").prompts("> ");
    assert_eq!(screen.whole().matches("Run it?").count(), 2, "{}", screen.whole());
}

#[test]
fn ctrl_c_clears_words_and_leaves_where_there_are_none() {
    let bot = Bot::saying(OFF, &["ok"]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").types("half a 질문").prompts("> half a 질문").keys(&["C-c"]).prompts("> ");
    screen.keys(&["Up"]).prompts("> half a 질문").keys(&["C-c"]).prompts("> ").keys(&["C-c"]).ends(0);
    assert!(!bot.home.work().join(".lepo").join("_tmp").read_dir().is_ok_and(|mut dir| dir.next().is_some()));
}

#[test]
fn an_empty_line_typed_during_an_answer_does_not_leave() {
    let bot = Bot::openai(
        OFF,
        [Reply::pieces([said("one "), Piece::Wait, said("two"), end()]), openai_sse(["three"])],
    );
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("q").shows("one").keys(&["Enter", "Enter"]);
    bot.server().release();
    screen.shows("one two").prompts("> ");
    // Keys that come within 15 ms of a prompt count as typed before it: no person types as quickly.
    let by_hand = || std::thread::sleep(std::time::Duration::from_millis(30));
    by_hand();
    screen.enters("again").shows("three").prompts("> ");
    by_hand();
    screen.keys(&["Enter"]).ends(0);
    screen.shows("`lepo` continues here; `lepo -n` starts over");

    let stay = Bot::saying("planner = \"off\"\n[repl]\nempty_line = \"stay\"", &["ok"]);
    let Some(screen) = Screen::lepo(&stay.home, 80, &[]) else { return };
    screen.prompts("> ").keys(&["Enter"]).prompts("> ").enters("q").shows("ok").prompts("> ");
    screen.enters("quit").ends(0);
}

#[test]
fn places_tokens_files_and_the_system_prompt() {
    let usage = |text: &str| {
        let usage = json!({ "choices": [], "usage": { "prompt_tokens": 1200, "completion_tokens": 34 } });
        let events = openai_stream([text]);
        let done = "data: [DONE]\n\n";
        Reply::new(200, events.replace(done, &format!("data: {usage}\n\n{done}")))
    };
    let bot = Bot::openai(OFF, [usage("A1"), usage("A2"), usage("A3"), usage("A4")]);
    bot.home.write("work/notes.txt", "the notes");
    bot.home.write("work/one.txt", "1");
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.shows("test · new conversation · /help").prompts("> ");
    screen.enters("one").shows("A1").shows("test · 1,200 in · 34 out · ").prompts("> ");
    screen.enters("/file notes.txt").shows("(9 bytes) goes with the next question");
    screen.enters("/file one.txt").shows("(1 byte) goes with the next question");
    screen.enters("two").shows("A2").prompts("> ");
    assert!(bubbs(&bot.home)[3].text.contains("the notes"), "{}", bubbs(&bot.home)[3].text);
    screen.enters("/tokens").shows("this session: 2 answers, 2,400 tokens in, 68 out").prompts("> ");
    screen
        .enters("/undo")
        .shows(&format!("back to {};", &bubbs(&bot.home)[2].id[18..]))
        .prompts("> two")
        .keys(&["C-u"])
        .prompts("> ")
        .enters("three")
        .shows("\nA3")
        .prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D / F u0 C / G a0 F");
    screen.enters("/grep THREE").shows("no matches").prompts("> ");
    screen.enters("/grep a[23]").shows(" now a0 A3").shows("  2  ").shows(" now a0 A2");
    screen.shows("/tail NUMBER continues").prompts("> ").enters("/tail 2").shows("continuing ").prompts("> ");
    screen
        .enters("/ls")
        .shows("  1  ")
        .shows("  2  ")
        .prompts("> ")
        .enters("/tail 2")
        .shows("continuing ")
        .prompts("> ");
    screen
        .enters("/system You are 엄격.")
        .shows("this system prompt")
        .enters("four")
        .shows("A4")
        .prompts("> ");
    assert_eq!(bubbs(&bot.home)[7].text, "You are 엄격.");
    screen
        .enters("/model nobody")
        .shows("nobody")
        .prompts("> ")
        .enters("/model")
        .shows("model is test; /model NAME");
    screen.enters("/copy").shows("copied 2 characters").prompts("> ").types("see @no").keys(&["Tab"]);
    screen.prompts("> see @notes.txt");
}

#[test]
fn the_line_about_an_answer_can_be_left_out() {
    for (settings, args) in
        [(OFF, &["do", "--no-usage"][..]), (&format!("{OFF}\n[term]\nusage = false"), &[])]
    {
        let bot = Bot::openai(settings, [openai_sse(["A1"]), openai_sse(["A2"])]);
        let Some(screen) = Screen::lepo(&bot.home, 100, args) else { return };
        screen.prompts("> ").enters("one").shows("A1").prompts("> ");
        assert!(!screen.whole().contains(" out · "), "{}", screen.whole());
        // It is still counted.
        screen.enters("/tokens").shows("this session: 1 answer").prompts("> ").enters("exit").ends(0);
    }
}

#[test]
fn undo_takes_back_the_question_however_often_it_was_answered() {
    let bot =
        Bot::openai(OFF, [Reply::new(400, "no"), openai_sse(["A1"]), openai_sse(["A2"]), openai_sse(["B1"])]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("one").shows("the question is kept").prompts("> ");
    screen.enters("/retry").shows("\nA1").prompts("> ").enters("/retry").shows("\nA2").prompts("> ");
    screen.enters("/undo").shows("undone; nothing was deleted").prompts("> one").keys(&["C-u"]).prompts("> ");
    screen.enters("two").shows("\nB1").prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D a0 B / E s1 head / F u0 E / G a0 F");
}

#[test]
fn undo_and_copy_right_after_new_or_system_are_about_the_conversation_that_was_left() {
    let bot = Bot::openai(OFF, [openai_sse(["A1"]), openai_sse(["B1"]), openai_sse(["C1"])]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("one").shows("A1").prompts("> ");
    for leaves in ["/system Briefly.", "/new"] {
        screen.enters(leaves).shows("begins a new conversation").prompts("> ");
        screen.enters("/copy").shows("copied 2 characters").prompts("> ");
        screen.enters("/undo").shows("back to ").prompts("> ").keys(&["C-l"]).prompts("> ");
    }
    // The same conversation goes on, with the system prompt that it has; then a new one, with the former one.
    screen
        .enters("two")
        .shows("B1")
        .prompts("> ")
        .enters("/new")
        .prompts("> ")
        .enters("three")
        .shows("C1")
        .prompts("> ");
    let system = &bubbs(&bot.home)[0].text;
    assert_eq!(
        forest(&bot.home),
        "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D / F s1 head / G u0 F / H a0 G"
    );
    assert_eq!(&bubbs(&bot.home)[5].text, system);
    // The question, then the conversation that was left for it.
    screen.prompts("> ").enters("/undo").shows("undone").prompts("> three").keys(&["C-u"]).prompts("> ");
    let end: String = bubbs(&bot.home)[4].id.chars().skip(18).collect();
    screen.enters("/undo").shows(&format!("back to {end}; nothing was deleted")).prompts("> ");
}

#[test]
fn a_session_that_is_left_elsewhere_says_how_to_continue_there() {
    let bot = Bot::saying(OFF, &["one", "two"]);
    let Some(screen) = Screen::lepo(&bot.home, 120, &[]) else { return };
    screen
        .prompts("> ")
        .enters("first")
        .shows("one")
        .prompts("> ")
        .enters("second")
        .shows("two")
        .prompts("> ");
    let first = bubbs(&bot.home)[2].id.clone();
    screen.enters("/undo").prompts("> second").keys(&["C-u"]).prompts("> ").enters("/exit").ends(0);
    screen.shows(&format!("`lepo --tail {first}` continues here; `lepo` the newest conversation"));
}

#[test]
fn prompts_and_outputs_are_marked_for_terminals() {
    let bot = Bot::saying(OFF, &["Hi."]);
    let steps = [
        ("\x1b]133;B", "hello\r"),
        ("\x1b]133;D;0", ""),
        ("\x1b]133;B", "/nothing\r"),
        ("\x1b]133;D;1", ""),
        ("\x1b]133;B", "exit\r"),
    ];
    let ran = on_terminal(bot.home.command(&[]), &steps);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let at = |mark: &str| ran.out.find(mark).unwrap_or_else(|| panic!("{mark:?}: {:?}", ran.out));
    let order = ["\x1b]133;A", "\x1b]133;B", "\x1b]133;C", "Hi.", "\x1b]133;D;0"].map(at);
    assert!(order.is_sorted(), "{order:?} {:?}", ran.out);
    assert_eq!(ran.out.matches("\x1b]133;C").count(), 3, "{:?}", ran.out);
    let mut dumb = bot.home.command(&[]);
    dumb.env("TERM", "dumb");
    let ran = on_terminal(dumb, &[("> ", "exit\n")]);
    assert!(!ran.out.contains("\x1b]"), "{:?}", ran.out);
}
