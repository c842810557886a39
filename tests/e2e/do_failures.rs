//! A server that fails: the exit code is 3, what came is kept, the question is kept, and `--retry` goes on.

use serde_json::json;

use crate::bots::Bot;
use crate::disk::{bubbs, forest, spools};
use crate::scripted::{Piece, Reply, openai_event, openai_sse, said, thought};

const OFF: &str = "planner = \"off\"";
const QUESTION: &str = "A s1 head / B u0 A";

#[test]
fn the_question_is_kept_and_can_be_asked_again() {
    let busy = |status| Reply::new(status, "busy").header("retry-after", "0");
    let sse = |text: &str| Reply::new(200, text).header("content-type", "text/event-stream");
    for (replies, says) in [
        (
            vec![Reply::new(401, r#"{"error":{"message":"bad key"}}"#)],
            "refused the key: 401 Unauthorized: bad key",
        ),
        (vec![Reply::new(403, "no such permission")], "refused the key"),
        (vec![Reply::new(403, "not in this country")], "refused the request: 403"),
        (vec![Reply::new(404, "no such model")], "no model \"m\" at http://127.0.0.1"),
        (vec![Reply::new(400, "too long")], "refused the request: 400 Bad Request: too long"),
        (vec![busy(500), busy(502), busy(503), busy(500)], "failed: 500"),
        (vec![busy(429), busy(429), busy(429), busy(429)], "too many requests"),
        (vec![Reply::new(429, "busy").header("retry-after", "3600")], "too many requests"),
        (
            vec![Reply::new(429, r#"{"error":{"message":"Check your plan","code":"insufficient_quota"}}"#)],
            "is used up: 429 Too Many Requests: Check your plan",
        ),
        (
            vec![sse(
                "data: {\"error\":{\"message\":\"no\",\"type\":\"insufficient_quota\",\"code\":429}}\n\n",
            )],
            "is used up: no",
        ),
        (vec![Reply::new(402, r#"{"error":{"message":"Insufficient Balance"}}"#)], "limit at http"),
        (vec![Reply::new(302, "").header("location", "http://127.0.0.2:9/")], "is not followed"),
        (
            vec![Reply::new(200, "<html>login</html>").header("content-type", "text/html")],
            "unexpected response: not a chat completion: login\n",
        ),
        (vec![sse("data: {\"error\":{\"message\":\"overloaded\"}}\n\n")], "overloaded"),
        (vec![sse("data: [DONE]\n\n")], "answer is empty"),
        (vec![openai_sse([" \n", "\n  "])], "answer is empty"),
        (vec![Reply::pieces([Piece::Close])], "cut off"),
    ] {
        let count = replies.len();
        let bot = Bot::openai(OFF, replies.into_iter().chain([openai_sse(["Paris."])]));
        let ran = bot.lepo(&["do", "Capital?"]);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{says}: {}", ran.err);
        assert!(ran.err.contains(says), "{says}: {}", ran.err);
        let (_, hint) = ran.err.split_once("\nhint: ").unwrap_or_else(|| panic!("{says}: {}", ran.err));
        assert!(hint.contains("`lepo do --retry`"), "{says}: {hint}");
        assert_eq!(forest(&bot.home), QUESTION, "{says}");
        assert!(spools(&bot.home).is_empty());
        assert_eq!(bot.times_asked(), count, "{says}");
        assert_eq!(bot.lepo(&["do", "--retry"]).out, "Paris.\n");
        assert_eq!(forest(&bot.home), format!("{QUESTION} / C a0 B"));
    }
}

#[test]
fn a_busy_server_is_asked_again() {
    let busy = Reply::new(429, "busy").header("retry-after", "0");
    let broken = Reply::new(500, "oops").header("retry-after", "0");
    let bot = Bot::openai(OFF, [busy, broken, openai_sse(["Paris."])]);
    let ran = bot.lepo(&["do", "Capital?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Paris.\n"));
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    assert_eq!(forest(&bot.home), format!("{QUESTION} / C a0 B"));
}

#[test]
fn a_server_that_is_not_there() {
    let bot = Bot::saying(OFF, &["Paris."]);
    let good = bot.home.read("config/config.toml");
    let down = good.replace(&bot.server().url(), "http://127.0.0.1:9");
    bot.home.write("config/config.toml", down);
    let ran = bot.lepo(&["do", "Capital?"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("cannot reach http://127.0.0.1:9/v1: connection refused"), "{}", ran.err);
    assert_eq!(forest(&bot.home), QUESTION);
    // Nor the name of one, as without a network.
    bot.home.write("config/config.toml", good.replace(&bot.server().url(), "http://models.invalid"));
    let ran = bot.lepo(&["--retry"]);
    assert!(ran.code == 3 && ran.err.contains("hint: check that there is a network"), "{}", ran.err);
    bot.home.write("config/config.toml", good);
    assert_eq!(bot.lepo(&["--retry"]).out, "Paris.\n");
    assert_eq!(forest(&bot.home), format!("{QUESTION} / C a0 B"));
}

#[test]
fn what_came_of_half_a_stream_is_kept_as_stopped() {
    let half = |end| {
        let text =
            openai_event(json!({"content": "반쪽 "}), None) + &openai_event(json!({"content": "답"}), None);
        Reply::pieces([Piece::Bytes(text.into_bytes()), end])
    };
    // Broken in the middle, ended without its end mark, and fallen silent.
    for end in [Piece::Close, Piece::Bytes(Vec::new()), Piece::Wait] {
        let silent = matches!(end, Piece::Wait);
        let settings = format!("{OFF}\n[http]\nidle_timeout = 1");
        let bot = Bot::openai(&settings, [half(end), openai_sse(["Paris."])]);
        let ran = bot.lepo(&["do", "Capital?"]);
        assert_eq!((ran.code, ran.out.as_str()), (3, "반쪽 답\n"), "{}", ran.err);
        assert!(ran.err.contains(if silent { "for 1 s" } else { "cut off" }), "{}", ran.err);
        assert_eq!(forest(&bot.home), format!("{QUESTION} / C a1 B"));
        assert_eq!(bubbs(&bot.home)[2].text, "반쪽 답");
        assert!(bot.home.ok(&["show", "-a"]).contains(" (stopped)\n반쪽 답\n"));
        assert_eq!(bot.lepo(&["do", "--retry"]).out, "Paris.\n");
        assert_eq!(forest(&bot.home), format!("{QUESTION} / C a1 B / D a0 B"));
        // Half an answer stays out of what the model sees.
        assert!(!bot.bodies()[1].to_string().contains("반쪽"));
    }
}

#[test]
fn programs_fail_too() {
    for (command, says, kept) in [
        ("[\"nosuchprogram\"]", "nosuchprogram is not installed", ""),
        ("[\"sh\", \"-c\", \"echo no >&2; exit 9\"]", "sh failed with exit code 9: no", ""),
        ("[\"sh\", \"-c\", \"echo part; exit 9\"]", "sh failed with exit code 9", " / C a1 B"),
        ("[\"true\"]", "answer is empty", ""),
        ("[\"sh\", \"-c\", \"kill -9 $$\"]", "sh was terminated by signal 9", ""),
    ] {
        let config = |command: &str| {
            format!(
                "{OFF}\n[[models]]\nname = \"p\"\nprovider = \"cli\"\ncommand = {command}\nactive = true\n"
            )
        };
        let home = crate::home::Home::with_config(&config(command)).trusting();
        let ran = home.lepo(&["do", "Capital?"]);
        assert_eq!(ran.code, 3, "{command}: {}", ran.err);
        assert!(ran.err.contains(says), "{command}: {}", ran.err);
        assert_eq!(forest(&home), format!("{QUESTION}{kept}"), "{command}");
        home.write("config/config.toml", config("[\"sed\", \"s/^/> /\"]"));
        assert_eq!(home.lepo(&["do", "--retry"]).out, "> Capital?\n");
    }
}

#[test]
fn an_answer_that_is_too_long_is_stopped_and_kept() {
    // Three hundred bytes at a time; the fourth passes the limit, and no more is waited for.
    let piece = "한".repeat(100);
    let chunk = || Piece::Bytes(openai_event(json!({"content": piece}), None).into_bytes());
    let endless = Reply::pieces([chunk(), chunk(), chunk(), chunk(), Piece::Wait]);
    let fits = piece.repeat(3) + &"x".repeat(100);
    let settings = format!("{OFF}\nmax_answer = 1000");
    let bot = Bot::openai(&settings, [endless, openai_sse([fits.as_str()])]);
    let ran = bot.lepo(&["do", "--json", "Capital?"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("exceeded max_answer"), "{}", ran.err);
    assert!(ran.err.contains("max_answer in config.toml"), "{}", ran.err);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&document["answer"], &document["error"]["kind"]), (&json!(null), &json!("remote")));
    assert_eq!(forest(&bot.home), format!("{QUESTION} / C a1 B"));
    assert_eq!(bubbs(&bot.home)[2].text, piece.repeat(4));
    assert!(spools(&bot.home).is_empty());
    // One of exactly as many bytes is whole.
    assert_eq!(bot.lepo(&["do", "--retry"]).out, format!("{fits}\n"));
}

#[test]
fn thinking_that_is_too_long_is_stopped() {
    let chunk = || thought(&"h".repeat(300));
    let endless = Reply::pieces([chunk(), chunk(), chunk(), chunk(), Piece::Wait]);
    let bot = Bot::openai(&format!("{OFF}\nmax_answer = 1000"), [endless]);
    let ran = bot.lepo(&["do", "Capital?"]);
    assert!(ran.code == 3 && ran.err.contains("exceeded max_answer"), "{} {}", ran.code, ran.err);
}

#[test]
fn a_chooser_that_never_ends_is_ended() {
    let endless = Reply::pieces([said(&"x".repeat((1 << 20) + 1)), Piece::Wait]);
    let again = Reply::pieces([said(&"x".repeat((1 << 20) + 1)), Piece::Wait]);
    let bot = Bot::openai("planner = \"chooser\"", [endless, again, openai_sse(["Paris."])]);
    let ran = bot.lepo(&["do", "Capital?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Paris.\n"), "{}", ran.err);
}
