//! A conversation through the proxy is the one that an import of its messages makes: the same kinds, texts and tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{ImportRules, ToolDetail, plan};
use lepo_import::{SourceFormat, SourceReader};
use lepo_proxy::{ExchangeEnd, ProxyRecorder, ProxyRequest, ProxyWire};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::Store;
use lepo_turn::Masking;

type Texts = BTreeMap<BubbName, String>;

/// Formats a forest as indented lines, siblings by their lines: times and ids differ.
fn tree(texts: &Texts) -> String {
    let mut lines = Vec::new();
    let mut stack: Vec<(Option<BubbId>, usize, Option<&BubbName>)> = vec![(None, 0, None)];
    while let Some((id, depth, name)) = stack.pop() {
        let line = |name: &BubbName| format!("{} {}", name.tag(), texts[name].replace('\n', "|"));
        if let Some(name) = name {
            lines.push(" ".repeat(depth - 1) + &line(name));
        }
        let mut children: Vec<&BubbName> = texts.keys().filter(|name| name.prev == id).collect();
        children.sort_by_key(|name| std::cmp::Reverse(line(name)));
        stack.extend(children.into_iter().map(|name| (Some(name.id), depth + 1, Some(name))));
    }
    lines.join("\n")
}

fn imported(messages: &Value) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.json");
    std::fs::write(&path, json!({"messages": messages}).to_string()).unwrap();
    let rules = ImportRules { tools: ToolDetail::Full, date: None, now: super::tests::LATER, written: None };
    let (mut texts, mut reading) = (Texts::new(), SourceReader::default());
    let mut each = |history| {
        texts.extend(plan(history, &rules).bubbs.into_iter().map(|bubb| (bubb.name, bubb.text)));
        Ok(())
    };
    SourceFormat::Messages.read(vec![path], &mut reading, &mut |history, _, _| each(history)).unwrap();
    tree(&texts)
}

fn through_the_proxy(wire: ProxyWire, body: &Value) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = Store::make(dir.path(), std::path::Path::new(".lepo"), "").unwrap();
    let recorder = Arc::new(ProxyRecorder::new(Arc::new(store), Arc::new(Masking::shapes_only())));
    let request = ProxyRequest::read(wire, "", body.to_string().as_bytes()).unwrap();
    recorder.record(&request, None).unwrap().finish(ExchangeEnd::Cut).unwrap();
    let store = recorder.store();
    let forest = store.forest().unwrap();
    let text = |name: BubbName| (name, store.text(&name).unwrap());
    tree(&forest.all().map(|ix| text(forest.name(ix))).collect())
}

#[test]
fn a_history_through_the_proxy_is_the_one_that_an_import_makes() {
    let png = "data:image/png;base64,iVBORw0KGgo=";
    let system = json!({"role": "system", "content": "be brief"});
    let call = |id: &str| {
        json!({"id": id, "type": "function",
        "function": {"name": "get", "arguments": format!("{{\"b\": {id}, \"a\": [2]}}")}})
    };
    let chat = [
        json!([system, {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
            {"role": "user", "content": "q2"}]),
        json!([{"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"},
            {"type": "image_url", "image_url": {"url": png}}]},
            {"role": "assistant", "reasoning_content": "hm", "content": "a"}, {"role": "user", "content": "q2"}]),
        json!([system, {"role": "user", "content": "q"},
            {"role": "assistant", "content": "wait", "tool_calls": [call("1"), call("2")]},
            {"role": "tool", "tool_call_id": "2", "content": "second"},
            {"role": "tool", "tool_call_id": "1", "content": "first"},
            {"role": "system", "content": "in the middle"},
            {"role": "assistant", "content": null, "tool_calls": [call("3")]},
            {"role": "tool", "tool_call_id": "3", "content": "{\"access\":\"read\",\"command\":\"ls\"}"},
            {"role": "assistant", "content": "done"}, {"role": "user", "content": "q2"}]),
        json!([{"role": "assistant", "content": null, "tool_calls": [call("1")]},
            {"role": "tool", "tool_call_id": "1", "content": "early"}, {"role": "user", "content": "q"}]),
    ];
    for messages in chat {
        let proxied = through_the_proxy(ProxyWire::Chat, &json!({"model": "m", "messages": messages}));
        assert_eq!(proxied, imported(&messages), "{messages}");
    }
    let blocks = json!([{"role": "user", "content": [{"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "a"}, {"type": "text", "text": "b"},
            {"type": "tool_use", "id": "1", "name": "get", "input": {"b": 1, "a": [2]}},
            {"type": "text", "text": "c"}]},
        {"role": "user", "content": [{"type": "text", "text": "and"},
            {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "found"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]}]}]);
    let mut all = blocks.as_array().unwrap().clone();
    all.insert(0, system);
    let body = json!({"model": "m", "max_tokens": 1, "system": "be brief", "messages": blocks});
    assert_eq!(through_the_proxy(ProxyWire::Messages, &body), imported(&Value::Array(all)));
}
