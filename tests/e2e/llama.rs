//! The OpenAI wire against a server that nobody here wrote: llama.cpp's, with a small real model.
//!
//! Runs where `LEPO_TEST_LLAMA` names its address (`http://127.0.0.1:PORT/v1`), as it does in CI.
//! Shape is asserted, never wording.

use crate::home::Home;

#[test]
fn a_real_server_answers_and_is_kept() {
    let Some(url) = std::env::var("LEPO_TEST_LLAMA").ok().filter(|url| !url.is_empty()) else {
        eprintln!("skipped: LEPO_TEST_LLAMA names no server");
        return;
    };
    let home = Home::with_config(&format!(
        "planner = \"off\"\n[[models]]\nname = \"llama\"\nprovider = \"openai\"\nmodel = \"smollm2:135m\"\n\
         base_url = \"{url}\"\nactive = true\n"
    ));
    home.write("config/system_prompt.txt", "");
    let first = home.ok(&["do", "--no-stdin", "What is the capital of France?"]);
    assert!(!first.trim().is_empty());
    let document: serde_json::Value =
        serde_json::from_str(&home.ok(&["do", "--no-stdin", "--json", "Name one colour."])).unwrap();
    assert!(document["answer"]["usage"]["input"].as_u64().unwrap() > 10, "{document}");
    assert!(document["answer"]["usage"]["output"].as_u64().unwrap() > 0, "{document}");
    assert_eq!(document["conv"].as_array().unwrap().len(), 4, "{document}");
    assert_eq!(home.ok(&["fsck"]), "");
}
