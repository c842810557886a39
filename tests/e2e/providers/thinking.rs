//! Models without an address whose answers begin within thinking: it is learned of each of them, and unlearned.

use std::path::Path;

use super::programs::script;
use super::{TIMEOUTS, config, hear, opened, run};
use lepo_base::role::Role;
use lepo_model::{ChatEvent, ChatMessage, ChatRequest, EmbeddedInstall, Model, ModelConfig, Provider};

/// An agent that answers with the text of a file.
const AGENT: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, results = message.get("method"), {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "s"}}
    if method == "session/prompt":
        chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": open(sys.argv[1]).read()}}
        update = {"method": "session/update", "params": {"sessionId": "s", "update": chunk}}
        print(json.dumps({"jsonrpc": "2.0", **update}), flush=True)
    result = results.get(method, {"stopReason": "end_turn"})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

/// A model of each kind, all of which answer with the text of one file.
fn models(folder: &Path) -> [(ModelConfig, Option<EmbeddedInstall>); 3] {
    let answer = folder.join("answer").display().to_string();
    let mut program = config(Provider::Cli, "");
    program.command = vec!["cat".into(), answer.clone()];
    let mut agent = config(Provider::Acp, "");
    agent.command = ["python3", "-c", AGENT, &answer].map(str::to_owned).into();
    let text = format!(
        "#!/bin/sh\nwhile read -r line; do printf '{{\"event\":\"text\",\"text\":\"%s\"}}\\n' \"$(cat '{answer}')\"\n\
         echo '{{\"event\":\"done\",\"reason\":\"stop\"}}'; done\n"
    );
    let program_file = script(folder, "lepo-embedded", &text);
    let installed = EmbeddedInstall { program: program_file, weights: folder.join("weights"), named: None };
    [(program, None), (agent, None), (config(Provider::Embedded, ""), Some(installed))]
}

/// The answer of the model, made anew: thinking in parentheses.
async fn answered(folder: &Path, (config, installed): &(ModelConfig, Option<EmbeddedInstall>)) -> String {
    let messages = [ChatMessage::new(Role::User, "why?")];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
    let mut model = Model::new(config, TIMEOUTS, folder, opened(), installed.clone()).unwrap();
    let heard = hear(&mut model, request).await;
    let shown = |event: &ChatEvent| match event {
        ChatEvent::Thinking(text) => format!("({text})"),
        ChatEvent::Text(text) => text.clone(),
        _ => String::new(),
    };
    heard.whole().iter().map(shown).collect()
}

#[test]
fn of_a_program_an_agent_and_the_embedded_model_it_is_learned_and_unlearned() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [
        ("Two.", "Two."),
        ("I think.</think>Two.", "(I think.)Two."),
        // Known by now: without the mark all of it was thinking, and an answer that is no other is the text.
        ("Two.", "(Two.)Two."),
        ("Two.", "Two."),
    ];
    run(async {
        for model in models(folder.path()) {
            for (answer, expected) in rows {
                std::fs::write(folder.path().join("answer"), answer).unwrap();
                let provider = model.0.provider;
                assert_eq!(answered(folder.path(), &model).await, expected, "{provider:?}");
            }
        }
    });
}
