//! `config` and `model`: what is in force, and changing it without losing a word of the file.

use crate::home::Home;

const TWO: &str = "# mine\nmax_rounds = 3\n[[models]]\nname = \"gpt\"\nprovider = \"openai\"\nmodel = \"gpt-4o\"\n\
    api_key = \"sk-very-secret\"\nactive = true\n[[models]]\nname = \"qwen\"\nprovider = \"ollama\"\nmodel = \"qwen3:8b\"\n";

#[test]
fn config_says_each_value_and_its_place_and_no_key() {
    let home = Home::with_config(TWO);
    let shown = home.ok(&["config"]);
    let file = home.path().join("config/config.toml");
    assert!(shown.contains(&format!("max_rounds = 3  # {}:2\n", file.display())), "{shown}");
    assert!(shown.contains("planner = auto  # default\n"), "{shown}");
    assert!(shown.contains("models.gpt = openai gpt-4o"), "{shown}");
    let json = home.ok(&["config", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["file"], file.to_str().unwrap());
    assert!(
        document["settings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|s| s["name"] == "max_rounds" && s["value"] == "3")
    );
    assert!(!shown.contains("secret") && !json.contains("secret"));
    // No store is needed, and none is made.
    assert!(!home.work().join(".lepo").exists());
}

#[test]
fn a_mistake_in_the_file_is_exit_2_with_its_line() {
    let home = Home::with_config("max_rounds = 3\ncolour = 1\n");
    for args in [&["config"][..], &["model", "ls"]] {
        let ran = home.lepo(args);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("config.toml:2"), "{}", ran.err);
    }
}

#[test]
fn an_import_adds_what_is_new_and_says_what_is_left_out() {
    let home = Home::with_config("# mine\nlog_level = \"warn\"\n");
    home.write(
        "old.json",
        r#"{"logLevel":"debug","models":[{"provider":"openai","name":"gpt","apiKey":"sk-secret","active":true}],"x":1}"#,
    );
    let ran = home.lepo(&["config", "--import", "../old.json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out, "add model \"gpt\" (openai), with its key, active\n");
    assert!(ran.err.contains("left out: log_level: it is set already"), "{}", ran.err);
    assert!(ran.err.contains("left out: x: "), "{}", ran.err);
    assert!(!ran.out.contains("secret") && !ran.err.contains("secret"));
    let file = std::fs::read_to_string(home.path().join("config/config.toml")).unwrap();
    assert!(file.starts_with("# mine\nlog_level = \"warn\"\n") && file.contains("sk-secret"), "{file}");
    let again = home.lepo(&["config", "--import", "../old.json", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(document["added"], serde_json::json!([]));
    assert_eq!(home.lepo(&["config", "--import", "../none.json"]).code, 2);
}

#[test]
fn models_are_listed_and_chosen() {
    let home = Home::with_config(TWO);
    assert_eq!(
        home.ok(&["model", "ls"]),
        "gpt openai gpt-4o active\nqwen ollama qwen3:8b\nsmollm2-135m embedded - not installed\n"
    );
    home.ok(&["model", "use", "qwen"]);
    let document: serde_json::Value = serde_json::from_str(&home.ok(&["model", "ls", "--json"])).unwrap();
    assert_eq!(
        (&document["models"][0]["active"], &document["models"][1]["active"]),
        (&false.into(), &true.into())
    );
    assert_eq!(document["models"][2]["installed"], false);
    let file = std::fs::read_to_string(home.path().join("config/config.toml")).unwrap();
    assert!(file.starts_with("# mine\n"), "{file}");
    let ran = home.lepo(&["model", "use", "nobody"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("lepo model ls"), "{}", ran.err);
}

#[test]
fn the_embedded_model_is_added_when_it_is_chosen() {
    let home = Home::new();
    let ran = home.lepo(&["model", "use", "smollm2-135m"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("lepo model get"), "{}", ran.err);
    assert_eq!(home.ok(&["model", "ls"]), "smollm2-135m embedded - active, not installed\n");
    // A file of the right size is taken for it.
    home.write("data/lepo/models/SmolLM2-135M-Instruct.Q4_1.gguf", "");
    let weights = home.path().join("data/lepo/models/SmolLM2-135M-Instruct.Q4_1.gguf");
    std::fs::OpenOptions::new().write(true).open(weights).unwrap().set_len(98_362_432).unwrap();
    assert_eq!(home.ok(&["model", "ls"]), "smollm2-135m embedded - active\n");
    home.ok(&["model", "use", "smollm2-135m"]);
    assert_eq!(home.ok(&["model", "ls"]).lines().count(), 1);
}

#[test]
fn a_fetch_that_fails_says_why() {
    let home = Home::new();
    home.write("bin/python3", "#!/bin/sh\necho 'no index can be reached' >&2\nexit 1\n");
    let ran = crate::home::run(home.shell("chmod +x ~/bin/python3; PATH=~/bin:$PATH lepo model get"), b"");
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    assert!(ran.err.contains("no index can be reached"), "{}", ran.err);
}
