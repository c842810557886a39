//! `lepo model add` and `rm`: weights of one's own, checked before they count.

use sha2::{Digest, Sha256};

use crate::embedded::weights;
use crate::home::{Home, run};
use crate::scripted::{Reply, Server};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Files in the folder of added weights.
fn added(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.path().join("data/lepo/models/added"));
    entries.into_iter().flatten().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_is_not_a_model_or_not_the_file_meant_is_not_added() {
    let home = Home::with_config("");
    home.write("work/text.gguf", "no model");
    let hash = sha256(b"no model");
    let server = Server::start([Reply::new(200, "no model")]);
    let url = format!("{}/some.gguf", server.url());
    for (args, code, says) in [
        (vec!["text.gguf", "--sha256", "beef"], 2, "64 hexadecimal digits"),
        (vec!["text.gguf"], 2, "--sha256 HASH"),
        (vec!["http://localhost:8080/v1"], 2, "`lepo model add NAME --base-url http://localhost:8080/v1`"),
        (vec!["none.gguf", "--sha256", &hash], 2, "cannot read none.gguf"),
        (vec!["text.gguf", "--sha256", &hash, "--name", "a/b"], 2, "is not a valid model name"),
        (vec!["text.gguf", "--sha256", &hash, "--name", "smollm2-135m"], 2, "already exists"),
        (vec!["text.gguf", "--sha256", &"0".repeat(64)], 3, &format!("its sha256 is {hash}")),
        (vec!["text.gguf", "--sha256", &hash], 3, "nothing was added: lepo-embedded runs"),
        (vec!["text.gguf", "--sha256", &hash], 3, "weights text.gguf are damaged: "),
        (vec![&url, "--sha256", &hash], 3, "nothing was added: lepo-embedded runs"),
        (vec!["http://example.com/x.gguf", "--sha256", &hash], 2, "download it yourself and name the file"),
    ] {
        let mut command = home.command(&[&["model", "add"][..], &args].concat());
        command.env("RUST_BACKTRACE", "1");
        let ran = run(command, b"");
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
        assert!(!ran.err.contains(".incoming") && !ran.err.contains("candle"), "{args:?}: {}", ran.err);
        assert!(!ran.err.contains("model get"), "{args:?}: {}", ran.err);
        assert_eq!(added(&home), [""; 0], "{args:?}");
    }
    let ran = home.lepo(&["do", "-m", "embedded:none", "q"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the embedded model none is not installed"), "{}", ran.err);
    assert_eq!(home.lepo(&["model", "rm", "none"]).code, 1);
}

#[test]
fn added_weights_answer_under_their_name_until_they_are_removed() {
    let Some(weights) = weights() else { return };
    let home = Home::with_config("");
    std::os::unix::fs::symlink(&weights, home.work().join("Twin.gguf")).unwrap();
    let hash = sha256(&std::fs::read(&weights).unwrap());
    let ran = home.lepo(&["model", "add", "Twin.gguf", "--sha256", &hash]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.ends_with("models/added/Twin.gguf\n"), "{}", ran.out);
    assert!(home.ok(&["model", "ls"]).contains("Twin embedded Twin installed, not configured\n"));
    assert_eq!(home.lepo(&["model", "add", "Twin.gguf", "--sha256", &hash]).code, 2, "it is there");

    let ran = home.lepo(&["do", "-m", "embedded:Twin", "What is the capital of France?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.out.trim().is_empty());
    let ran = home.lepo(&["do", "-n", "--json", "--max-tokens", "2", "-m", "embedded:Twin", "Count to ten."]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["answer"]["usage"]["output"], 2, "{document}");
    home.ok(&["model", "use", "Twin"]);
    assert!(home.ok(&["model", "ls"]).contains("Twin embedded Twin active\n"));
    let ran = home.lepo(&["model", "rm", "Twin"]);
    assert!(ran.err.contains("still names it"), "{}", ran.err);
    assert_eq!(added(&home), [""; 0]);
}

/// A GGUF of no tensors with these texts in its head.
fn gguf(texts: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    let text = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    bytes.extend(0u64.to_le_bytes());
    bytes.extend((texts.len() as u64).to_le_bytes());
    for (key, value) in texts {
        text(&mut bytes, key);
        bytes.extend(8u32.to_le_bytes());
        text(&mut bytes, value);
    }
    bytes
}

#[test]
fn a_refusal_says_what_a_model_is_and_what_it_could_be() {
    let home = Home::with_config("");
    let (architecture, tokenizer) = ("general.architecture", "tokenizer.ggml.pre");
    for (texts, says) in [
        (vec![(architecture, "qwen2")], r#"its architecture is "qwen2", not "llama""#),
        (
            vec![(architecture, "llama"), (tokenizer, "llama-bpe")],
            r#"its tokenizer is "llama-bpe", not "smollm""#,
        ),
        (
            vec![
                (architecture, "llama"),
                ("tokenizer.chat_template", "<|start_header_id|>"),
                (tokenizer, "smollm"),
            ],
            "its chat template is not ChatML",
        ),
    ] {
        let bytes = gguf(&texts);
        home.write("work/other.gguf", &bytes);
        let ran = home.lepo(&["model", "add", "other.gguf", "--sha256", &sha256(&bytes)]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains(says), "{says}: {}", ran.err);
        assert!(ran.err.contains("lepo-embedded runs SmolLM and SmolLM2 of any size"), "{}", ran.err);
        assert_eq!(added(&home), [""; 0]);
    }
}
