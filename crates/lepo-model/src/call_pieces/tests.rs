//! Streams of calls as servers send them; a row is named by the public report from which it is rebuilt.

use super::*;
use crate::message::ToolSpec;

const GITHUB: &str = "https://github.com/";

/// Returns the calls of these pieces as `id name arguments`, and in their form for later requests.
fn read(pieces: &[Value]) -> (Vec<String>, Vec<Value>) {
    let tool = |name: &str| ToolSpec { name: name.into(), description: String::new(), schema: json!({}) };
    let mut calls = CallPieces::new(ToolNames::new(&[tool("run"), tool("fs__read")]));
    pieces.iter().for_each(|piece| assert!(calls.add(piece).is_ok()));
    let whole = calls.take_whole();
    let line = |whole: &WholeCall| format!("{} {} {}", whole.call.id, whole.call.name, whole.call.arguments);
    (whole.iter().map(line).collect(), whole.into_iter().map(|whole| whole.received).collect())
}

fn piece(index: Value, id: Value, name: Value, arguments: Value) -> Value {
    json!([{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}])
}

const NONE: Value = Value::Null;

#[test]
fn a_call_is_read_by_what_it_has() {
    let p = piece;
    let one = r#"c run {"a":1}"#;
    let two = [r#"c run {"a":1}"#, r#"d run {"b":2}"#];
    let (a1, a2) = (r#"{"a""#, ":1}");
    let (whole, other) = (r#"{"a":1}"#, r#"{"b":2}"#);
    let rows: Vec<(&str, Vec<Value>, Vec<&str>)> = vec![
        (
            "openai/openai-python/pull/3246",
            vec![p(NONE, json!("c"), json!("run"), json!(a1)), p(NONE, NONE, NONE, json!(a2))],
            vec![one],
        ),
        (
            "AstrBotDevs/AstrBot/pull/6692",
            vec![
                p(NONE, json!("c"), json!("run"), json!(whole)),
                p(NONE, json!("d"), json!("run"), json!(other)),
            ],
            two.to_vec(),
        ),
        (
            "chatanywhere/GPT_API_free/issues/254",
            vec![
                p(NONE, json!("c"), json!("run"), json!("")),
                p(json!(0), NONE, NONE, json!(a1)),
                p(json!(0), NONE, NONE, json!(a2)),
            ],
            vec![one],
        ),
        (
            "SamSaffron/term-llm/pull/314",
            vec![
                p(NONE, json!("c"), json!("run"), json!(a1)),
                p(NONE, json!("c"), NONE, json!(a2)),
                p(NONE, json!("d"), json!("run"), json!(other)),
            ],
            two.to_vec(),
        ),
        (
            "anvia-hq/anvia/pull/262",
            vec![p(json!("0"), json!("c"), json!("run"), json!(a1)), p(json!(0.0), NONE, NONE, json!(a2))],
            vec![one],
        ),
        (
            "anvia-hq/anvia/pull/262 (odd)",
            vec![p(json!(-1), json!("c"), json!("run"), json!(a1)), p(json!(-1), NONE, NONE, json!(a2))],
            vec![one],
        ),
        (
            "anvia-hq/anvia/pull/262 (other kinds)",
            vec![p(json!({}), json!("c"), json!("run"), json!(a1)), p(json!(true), NONE, NONE, json!(a2))],
            vec![one],
        ),
        (
            "anomalyco/opencode/pull/24026",
            vec![p(json!(0), json!(7), json!("run"), json!(whole))],
            vec![r#"7 run {"a":1}"#],
        ),
        (
            "openai/codex/issues/7517",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(a1)),
                p(json!(0), json!(""), json!(""), json!(a2)),
            ],
            vec![one],
        ),
        (
            "poolsideai/pool/issues/9",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(a1)),
                p(json!(0), json!("x"), NONE, json!(":")),
                p(json!(0), json!("y"), json!(""), json!("1}")),
            ],
            vec![one],
        ),
        (
            "cubist38/mlx-openai-server/pull/216",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(a1)),
                p(json!(0), json!("x"), json!("run"), json!(a2)),
            ],
            vec![one],
        ),
        (
            "omnigent-ai/omnigent/pull/28",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(whole)),
                p(json!(0), json!("d"), json!("run"), json!(other)),
            ],
            two.to_vec(),
        ),
        (
            "two calls in pieces, both at index 0",
            vec![
                p(json!(0), json!("c"), json!("run"), json!("")),
                p(json!(0), NONE, NONE, json!(whole)),
                p(json!(0), json!("d"), json!("run"), json!("")),
                p(json!(0), NONE, NONE, json!(other)),
            ],
            two.to_vec(),
        ),
        (
            "mudler/LocalAI/issues/9722",
            vec![
                p(json!(0), json!("c"), json!("run"), json!("")),
                p(json!(1), json!("c"), json!("run"), json!(whole)),
            ],
            vec![one],
        ),
        (
            "mudler/LocalAI/issues/9722 (whole)",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(whole)),
                p(json!(1), json!("c"), json!("run"), json!(whole)),
            ],
            vec![one],
        ),
        (
            "mudler/LocalAI/issues/9722 (a part)",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(a1)),
                p(json!(1), json!("c"), json!("run"), json!(whole)),
            ],
            vec![one],
        ),
        (
            "OpenRouterTeam/ai-sdk-provider/pull/489",
            vec![p(json!(0), json!("c"), json!("run"), json!(whole)), p(json!(0), NONE, NONE, json!(" \n"))],
            vec![one],
        ),
        (
            "agno-agi/agno/issues/2336",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(whole)),
                p(json!(0), json!("c"), json!("run"), json!(whole)),
            ],
            vec![one],
        ),
        (
            "elizaOS/eliza/pull/16973",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(a1)),
                p(json!(0), NONE, NONE, json!(a2)),
                p(json!(0), json!("c"), json!("run"), json!(whole)),
            ],
            vec![one],
        ),
        (
            "SillyTavern/SillyTavern/pull/5948",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(a1)),
                p(json!(0), json!("c"), json!("run"), json!(a2)),
                p(json!(0), json!("c"), json!("run"), json!("")),
            ],
            vec![one],
        ),
        (
            "anvia-hq/anvia/pull/282",
            vec![
                p(json!(0), json!("c"), json!("run"), json!("{")),
                p(json!(0), json!("c"), json!("run"), json!(a1)),
                p(json!(0), json!("c"), json!("run"), json!(whole)),
            ],
            vec![one],
        ),
        (
            "BerriAI/litellm/issues/4537",
            vec![
                p(json!(0), json!("c"), json!("run"), json!({})),
                p(json!(0), NONE, NONE, json!(a1)),
                p(json!(0), NONE, NONE, json!(a2)),
            ],
            vec![one],
        ),
        (
            "openai/openai-agents-js/pull/712",
            vec![p(json!(0), json!("c"), json!("run"), json!("{}")), p(json!(0), NONE, NONE, json!(whole))],
            vec![one],
        ),
        (
            "openai/openai-agents-js/pull/712 (all again)",
            vec![
                p(json!(0), json!("c"), json!("run"), json!("{}")),
                p(json!(0), json!("c"), json!("run"), json!(whole)),
            ],
            vec![one],
        ),
        (
            "HKUDS/nanobot/pull/3943",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(whole)),
                p(json!(1), json!("c"), json!("run"), json!(other)),
            ],
            vec![one, r#"c_2 run {"b":2}"#],
        ),
        (
            "OpenRouterTeam/ai-sdk-provider/pull/471",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(whole)),
                p(json!(1), json!("c"), json!("fs__read"), json!(whole)),
            ],
            vec![one, r#"c_2 fs__read {"a":1}"#],
        ),
        (
            "ids that are made are nobody's",
            vec![
                p(json!(0), json!("c"), json!("run"), json!(whole)),
                p(json!(1), json!("c_2"), json!("run"), json!(whole)),
                p(json!(2), json!("c"), json!("run"), json!(other)),
            ],
            vec![one, r#"c_2 run {"a":1}"#, r#"c_3 run {"b":2}"#],
        ),
        (
            "no ids at all",
            vec![
                p(json!(0), NONE, json!("run"), json!(whole)),
                p(json!(1), NONE, json!("run"), json!(other)),
            ],
            vec![r#"call_1 run {"a":1}"#, r#"call_2 run {"b":2}"#],
        ),
        (
            "neither ids nor indexes",
            vec![p(NONE, NONE, json!("run"), json!(whole)), p(NONE, NONE, json!("run"), json!(other))],
            vec![r#"call_1 run {"a":1}"#, r#"call_2 run {"b":2}"#],
        ),
        (
            "a name in pieces",
            vec![
                p(json!(0), json!("c"), json!("r"), json!("")),
                p(json!(0), NONE, json!("un"), json!("")),
                p(json!(0), NONE, NONE, json!(whole)),
            ],
            vec![one],
        ),
        (
            "a name so far in each piece",
            vec![
                p(json!(0), json!("c"), json!("r"), json!("")),
                p(json!(0), json!("c"), json!("run"), json!(whole)),
            ],
            vec![one],
        ),
        (
            "a name behind the arguments",
            vec![p(json!(0), json!("c"), NONE, json!(whole)), p(json!(0), NONE, json!("run"), json!(""))],
            vec![one],
        ),
        (
            "BerriAI/litellm/pull/24095",
            vec![json!([{"function": {"name": "run", "arguments": {"a": 1}}}])],
            vec![r#"call_1 run {"a":1}"#],
        ),
        (
            "a list that is one object",
            vec![json!({"id": "c", "function": {"name": "run", "arguments": whole}})],
            vec![one],
        ),
        (
            "name and arguments beside the id",
            vec![json!([{"id": "c", "name": "run", "arguments": whole}])],
            vec![one],
        ),
        (
            "rubbish in the list",
            vec![json!([null, 7, "x", [], {"id": "c", "function": {"name": "run", "arguments": whole}}])],
            vec![one],
        ),
        (
            "NousResearch/hermes-agent/pull/15356",
            vec![p(json!(0), json!("c"), json!("run"), json!("{\"a\":\"x\ny\tz\"}"))],
            vec![r#"c run {"a":"x\ny\tz"}"#],
        ),
        (
            "NousResearch/hermes-agent/pull/110436",
            vec![p(json!(0), json!("c"), json!("run"), json!(r#"{"a":"C:\path"}"#))],
            vec![r#"c run {"a":"C:\\path"}"#],
        ),
        (
            "NousResearch/hermes-agent/pull/55620",
            vec![p(json!(0), json!("c"), json!("run"), json!("{\"a\":\"x\\\ny\"}"))],
            vec![r#"c run {"a":"x\\\ny"}"#],
        ),
        (
            "vllm-project/vllm/issues/32587",
            vec![p(json!(0), json!("c"), json!("run<|channel|>commentary"), json!(whole))],
            vec![one],
        ),
        (
            "tontinton/maki/pull/518",
            vec![p(json!(0), json!("c"), json!("functions.run"), json!(whole))],
            vec![one],
        ),
        (
            "NorthlandPositronics/Cogtrix/issues/2023",
            vec![p(json!(0), json!("c"), json!("query_rag"), json!(whole))],
            vec![r#"c query_rag {"a":1}"#],
        ),
        (
            "brightwave-inc/tidebreak/issues/1124",
            vec![p(json!(0), json!("c"), json!("run"), json!(a1))],
            vec![r#"c run "{\"a\"""#],
        ),
    ];
    for (report, pieces, expected) in rows {
        let (calls, received) = read(&pieces);
        assert_eq!(calls, expected, "{GITHUB}{report}");
        for call in received {
            assert!(call["id"].is_string() && call["function"]["arguments"].is_string(), "{report}: {call}");
        }
    }
}

#[test]
fn calls_that_nothing_can_hold_are_ended() {
    let mut calls = CallPieces::default();
    let large = piece(json!(0), json!("c"), json!("run"), json!("x".repeat(8 << 20)));
    assert!(calls.add(&large).is_ok() && calls.add(&large).is_ok());
    assert!(calls.add(&large).is_err());
    let mut calls = CallPieces::default();
    let many = (0..2000).find(|n| calls.add(&piece(json!(n), NONE, json!("run"), NONE)).is_err());
    assert_eq!(many, Some(MOST_CALLS));
}

#[test]
fn ids_are_made_and_made_to_differ() {
    let ids = |ids: &[&str]| own_ids(ids.iter().map(|id| (*id).to_owned()).collect());
    for (given, expected) in [
        (vec!["a", "b"], vec!["a", "b"]),
        (vec!["a", "a", "a"], vec!["a", "a_2", "a_3"]),
        (vec!["", "call_1", ""], vec!["call_1_2", "call_1", "call_3"]),
        (vec!["a", "a_2", "a"], vec!["a", "a_2", "a_3"]),
    ] {
        assert_eq!(ids(&given), expected);
    }
}
