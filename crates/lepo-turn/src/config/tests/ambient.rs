//! Models from the environment only.

use super::Vars;
use crate::config::ambient::Ambient;
use lepo_base::env::Env;
use lepo_model::OPENAI_URL;

fn ambient(variables: Vars) -> Ambient {
    Ambient::from_env(&Env::from_pairs(variables)).unwrap()
}

#[test]
fn provider_and_model() {
    let local = [("OPENAI_BASE_URL", "http://localhost:8080/v1/"), ("OLLAMA_HOST", "box")];
    let keyed = [("OPENAI_API_KEY", "k\n")];
    // variables, text, then: model, base_url, has a key, is one looked for
    let claude = [("ANTHROPIC_AUTH_TOKEN", "t")];
    let anthropic = "https://api.anthropic.com";
    let table: [(Vars, &str, &str, &str, bool, bool); 9] = [
        (&[], "openai:gpt-4o", "gpt-4o", OPENAI_URL, false, true),
        (&keyed, "openai:gpt-4o", "gpt-4o", OPENAI_URL, true, true),
        (&local, "openai:any", "any", "http://localhost:8080/v1", false, false),
        (&local, "ollama:qwen3:8b", "qwen3:8b", "http://box:11434", false, false),
        (&keyed, "ollama:qwen3:8b", "qwen3:8b", "http://127.0.0.1:11434", false, false),
        (&keyed, "anthropic:claude-x", "claude-x", anthropic, false, true),
        (&claude, "anthropic:claude-x", "claude-x", anthropic, true, true),
        (&keyed, "codex", "", "", false, false),
        (&keyed, "embedded:", "", "", false, false),
    ];
    for (variables, text, model, url, key, looked_for) in table {
        let got = ambient(variables).model(text).unwrap().unwrap();
        assert_eq!((got.name.as_str(), got.model.as_str()), (text, model));
        assert_eq!(got.base_url, url, "{text}");
        assert_eq!((got.key.value.is_some(), !got.key.looked_for.is_empty()), (key, looked_for));
    }
    assert!(ambient(&claude).model("anthropic:x").unwrap().unwrap().key.bearer);
    assert!(ambient(&[]).model("gpt").is_none());
    assert!(ambient(&[]).model("qwen3:8b").is_none());
    assert!(ambient(&[]).model("openai: ").unwrap().is_err());
}

#[test]
fn a_wrong_address_names_its_variable_and_hides_what_is_in_it() {
    for (name, value) in [("OPENAI_BASE_URL", "http://me:hush@host"), ("OLLAMA_HOST", "me:hush@host")] {
        let error = Ambient::from_env(&Env::from_pairs(&[(name, value)])).unwrap_err();
        assert!(error.message.contains(name), "{}", error.message);
        assert!(!format!("{error:?}").contains("hush"));
    }
}

#[test]
fn of_two_keys_the_first_offers_its_model() {
    let offers = |variables: Vars| ambient(variables).offers().map(|(name, _)| name).collect::<Vec<_>>();
    let both = [("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o"), ("OPENAI_MODEL", "gpt-x")];
    assert_eq!(offers(&both), ["openai:gpt-x", "anthropic:claude-sonnet-5-5"]);
    assert_eq!(offers(&both[..1]), ["anthropic:claude-sonnet-5-5"]);
    assert!(offers(&[]).is_empty());
}
