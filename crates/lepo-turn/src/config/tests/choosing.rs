//! The choice of the model and its key, and the message if no model is found.

use super::{Vars, load, user};
use crate::Notice;
use lepo_base::hint::HintTarget;
use lepo_base::secret::Secret;
use lepo_model::{ModelConfig, Provider};

use crate::config::*;

const TWO: &str = "[[models]]\nname='a'\nprovider='ollama'\nmodel='m'\n\
                   [[models]]\nname='b'\nprovider='openai'\nmodel='m'\napi_key_env='B_KEY'\n";

#[test]
fn which_model_answers() {
    let active = TWO.replacen("model='m'\n", "model='m'\nactive=true\n", 1);
    let wanted = |name: &str| Flags { model: Some(name.to_string()), ..Flags::default() };
    let openai = [("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "o")];
    // file, environment, flags, the name or part of the message or hint
    let table: [(&str, Vars, Flags, Result<&str, &str>); 11] = [
        (&active, &[], Flags::default(), Ok("a")),
        (&active, &[("LEPO_MODEL", "ollama:x")], Flags::default(), Ok("ollama:x")),
        (&active, &[("LEPO_MODEL", "ollama:x")], wanted("a"), Ok("a")),
        (&active, &[], wanted("b"), Err("B_KEY in the environment")),
        (&active, &[("B_KEY", "k")], wanted("b"), Ok("b")),
        (&active, &[], wanted("c"), Err("unknown model \"c\"")),
        (&active, &[], wanted("openai:"), Err("names no model")),
        (&active, &[], wanted("openai:gpt"), Err("OPENAI_API_KEY in the environment")),
        (TWO, &openai, Flags::default(), Err("/set-model")),
        (TWO, &[], wanted("embedded:"), Ok("embedded:")),
        ("", &openai, Flags::default(), Ok("openai:o")),
    ];
    for (file, env, flags, expected) in table {
        match (load(file, "", env, &flags).unwrap().choose(), expected) {
            (Ok(ModelChoice::Model(model)), Ok(name)) => assert_eq!(model.name, name),
            (Err(error), Err(words)) => {
                assert_eq!(error.kind.exit_code(), 2);
                let errors = format!("{} {}", error.message, error.hint_for(HintTarget::SHELL).unwrap());
                assert!(errors.contains(words), "{errors}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn with_nothing_configured_it_looks_around_then_tells_the_way() {
    let look = || match user("").choose().unwrap() {
        ModelChoice::NeedsLookup(look) => look,
        other => panic!("{other:?}"),
    };
    assert_eq!(look().ollama_url, "http://127.0.0.1:11434");
    let ollama = LocalModels { ollama_model: Some("qwen3:8b".into()), embedded: true };
    assert_eq!(look().choose(ollama).unwrap().name, "ollama:qwen3:8b");
    let embedded = LocalModels { ollama_model: None, embedded: true };
    assert_eq!(look().choose(embedded).unwrap().provider, Provider::Embedded);
    let error = look().choose(LocalModels::default()).unwrap_err();
    let hint = error.hint_for(HintTarget::SHELL).unwrap();
    for words in ["config.toml", "[[models]]", "lepo model get"] {
        assert!(hint.contains(words), "{hint}");
    }
}

#[test]
fn a_key_goes_only_where_it_was_configured_to_go() {
    let base = "[[models]]\nname='m'\nprovider='openai'\nmodel='m'\n";
    let local = "http://localhost:1/v1";
    let env = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", local), ("OTHER", "o")];
    let at = |url: &str| format!("{base}base_url='{url}'\n");
    let own = "https://api.openai.com/v1";
    // file, then address and key
    let table = [
        (base.to_string(), local, Some("k")),
        (at(local), local, Some("k")),
        (at("http://elsewhere"), "http://elsewhere", None),
        (at(own), own, None),
        (format!("{base}api_key_env='OTHER'\n"), own, Some("o")),
    ];
    for (file, url, key) in table {
        let settings = load(&file, "", &env, &Flags::default()).unwrap();
        let model = settings.model("m").unwrap();
        assert_eq!(model.base_url, url);
        assert_eq!(model.key.value.as_ref().map(Secret::reveal), key, "{file}");
        assert!(model.require_key().is_ok());
    }
}

#[test]
fn what_is_shown_has_no_key_in_it() {
    let file = "[[models]]\nname='a'\nprovider='openai'\nmodel='m'\napi_key='hush'\nactive=true\n\
                [[models]]\nname='c'\nprovider='cli'\ncommand=['ai','--key=hush']\n";
    let settings = load(file, "", &[("OPENAI_API_KEY", "hush")], &Flags::default()).unwrap();
    let lines = setting_lines(&settings);
    assert!(!format!("{settings:?}{lines:?}").replace("--key=hush", "").contains("hush"));
    let about = |name: &str| lines.iter().find(|line| line.name == name).unwrap();
    assert_eq!(about("models.a").value, "openai m at https://api.openai.com/v1, with a key, active");
    assert!(about("models.a").source.to_string().ends_with("config.toml:1"));
    assert_eq!(about("models.c").value, "cli ai");
    assert_eq!(about("http.idle_timeout").value, "120");
    assert_eq!(settings.key_variables(), ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]);
}

#[test]
fn the_list_begins_with_who_answers() {
    let active = TWO.replacen("model='m'\n", "model='m'\nactive=true\n", 1);
    // file, environment, the model and the end of its source
    let table: [(&str, Vars, &str, &str); 5] = [
        (&active, &[], "a", "config.toml:1"),
        (&active, &[("LEPO_MODEL", "ollama:x")], "ollama:x", "LEPO_MODEL"),
        ("", &[("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "o")], "openai:o", "OPENAI_API_KEY"),
        (TWO, &[("OPENAI_API_KEY", "k")], "", "default"),
        ("", &[], "", "default"),
    ];
    for (file, env, model, source) in table {
        let first = setting_lines(&load(file, "", env, &Flags::default()).unwrap()).remove(0);
        assert_eq!((first.name.as_str(), first.value.as_str()), ("model", model));
        assert!(first.source.to_string().ends_with(source), "{first:?}");
    }
}

#[test]
fn the_variables_of_all_keys_are_hidden_whoever_uses_them() {
    let model = |variable: &str| {
        format!("[[models]]\nname='m'\nprovider='openai'\nmodel='m'\napi_key_env='{variable}'\n")
    };
    let keys = |settings: Settings| settings.key_variables().to_vec();
    // A repository's model replaces the user's model of the same name.
    let settings = load(&model("MINE"), &model("THEIRS"), &[], &Flags::default()).unwrap();
    assert_eq!(
        keys(settings),
        ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "MINE", "THEIRS"]
    );
    let other = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(other.path(), model("OTHER")).unwrap();
    let flags = Flags { config: Some(other.path().to_path_buf()), ..Flags::default() };
    assert_eq!(
        keys(load(&model("MINE"), "", &[], &flags).unwrap()),
        ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OTHER", "MINE"]
    );
    assert_eq!(
        keys(load("nonsense", "", &[], &flags).unwrap()),
        ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OTHER"]
    );
}

#[test]
fn the_embedded_model_is_named_where_nobody_chose_it() {
    let embedded = ModelConfig::new("embedded:", Provider::Embedded);
    let note = |file: &str, env: Vars, model: Option<&str>| {
        let flags = Flags { model: model.map(str::to_string), ..Flags::default() };
        load(file, "", env, &flags).unwrap().embedded_note(&embedded)
    };
    assert_eq!(note("", &[], None), Some(Notice::EmbeddedAnswers));
    assert_eq!(note("", &[], Some("embedded:")), None);
    assert_eq!(note("", &[("LEPO_MODEL", "embedded:")], None), None);
    let configured = "[[models]]\nname='e'\nprovider='embedded'\nactive=true\n";
    assert_eq!(note(configured, &[], None), None);
}
