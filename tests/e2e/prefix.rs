//! What a request has in common with the one before it: a server's cache reads nothing twice.

use serde_json::Value;

use crate::bots::{Bot, messages};
use crate::scripted::openai_sse;

/// The part of lepo's own `general` by which it is found in a request.
const GENERAL: &str = "The conversation may hold results of commands";

fn has_general(body: &Value) -> bool {
    messages(body).iter().any(|(_, text)| text.contains(GENERAL))
}

#[test]
fn general_as_made_is_of_the_turn_with_a_result_alone_and_ones_own_of_every_request() {
    let replies = || (0..5).map(|_| openai_sse(["Yes."]));
    let turns: [&[&str]; 5] =
        [&["one"], &["--run", "echo 1", "two"], &["three"], &["--compact", "--keep", "1"], &["four"]];
    for (own, expected) in [
        (None, [false, true, false, false, false]),
        (
            Some("general = 'MINE: The conversation may hold results of commands'"),
            [true, true, true, false, true],
        ),
    ] {
        let bot = Bot::openai("planner = 'off'", replies());
        own.into_iter().for_each(|text| bot.home.write_insts(text));
        for turn in turns {
            let ran = bot.home.alone(&[&["do"], turn].concat());
            assert_eq!(ran.code, 0, "{turn:?}: {}", ran.err);
        }
        let bodies = bot.bodies();
        assert_eq!(bodies.iter().map(has_general).collect::<Vec<_>>(), expected, "{own:?}");
        for body in bodies.iter().filter(|body| has_general(body)) {
            assert!(messages(body).last().unwrap().1.contains(GENERAL), "it stands last: {body}");
        }
        if own.is_none() {
            // The request after the one with it begins with all that was said.
            let (run, next) = (messages(&bodies[1]), messages(&bodies[2]));
            assert_eq!(next[..run.len() - 1], run[..run.len() - 1]);
        }
    }
}
