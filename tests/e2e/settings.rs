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
    assert!(!shown.contains("very-secret") && !json.contains("very-secret"));
    // No store is needed, and none is made.
    assert!(!home.work().join(".lepo").exists());
}

#[test]
fn each_word_that_is_listed_as_allowed_is_taken_and_a_refusal_lists_the_same() {
    let home = Home::with_config(TWO);
    let document: serde_json::Value = serde_json::from_str(&home.ok(&["config", "--json"])).unwrap();
    let screen = crate::pty::on_terminal(home.command(&["config", "--color", "never"]), &[]).out;
    let mut settings = 0;
    for setting in document["settings"].as_array().unwrap() {
        let (name, Some(allowed)) = (setting["name"].as_str().unwrap(), setting["allowed"].as_str()) else {
            continue;
        };
        assert!(screen.contains(&format!("allowed: {allowed}")), "{name}: {allowed}\n{screen}");
        if !allowed.contains(" | ") {
            continue;
        }
        settings += 1;
        let words: Vec<&str> = allowed.split(" | ").filter(|word| !word.contains('{')).collect();
        for word in &words {
            assert_eq!(home.ok(&["config", name, word]), "", "{name} {word}");
            assert_eq!(home.ok(&["config", name]).trim(), *word, "{name}");
        }
        let ran = home.lepo(&["config", name, "no-such-word"]);
        let hint = ran.err.split("hint: ").nth(1).unwrap_or_default();
        let is_listed = words.iter().all(|word| hint.contains(word));
        assert!(ran.code == 2 && is_listed, "{name}: {}", ran.err);
    }
    assert!(settings > 10, "{settings}");
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
    assert!(ran.err.contains("left out: log_level: already set"), "{}", ran.err);
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
    let configured: Vec<bool> = (0..3).map(|at| document["models"][at]["configured"].is_string()).collect();
    assert_eq!(configured, [true, true, false]);
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

#[test]
fn a_setting_is_printed_set_and_taken_out_by_its_name() {
    let home = Home::with_config(TWO);
    assert_eq!(home.ok(&["config", "max_rounds"]), "3\n");
    assert_eq!(home.ok(&["config", "log_level"]), "info\n");
    assert!(home.ok(&["config", "http"]).starts_with("http.connect_timeout = 10  # default\n"));
    assert!(home.ok(&["config", "models.gpt"]).starts_with("openai gpt-4o"));
    let json: serde_json::Value =
        serde_json::from_str(&home.ok(&["config", "max_rounds", "--json"])).unwrap();
    assert_eq!((&json["name"], &json["value"]), (&"max_rounds".into(), &"3".into()));
    for (args, value) in [
        (["max_rounds", "5"], "5"),
        (["http.idle_timeout", "1.5"], "1.5"),
        (["many.participants", "gpt,qwen"], "gpt, qwen"),
        (["log_level", "debug"], "debug"),
        (["alias.again", "do --retry"], "do --retry"),
    ] {
        assert_eq!(home.ok(&["config", args[0], args[1]]), "");
        assert_eq!(home.ok(&["config", args[0]]), format!("{value}\n"));
    }
    let text = home.read("config/config.toml");
    assert!(text.starts_with("# mine\n") && text.contains("sk-very-secret"), "{text}");
    home.ok(&["config", "--unset", "max_rounds"]);
    assert_eq!(home.ok(&["config", "max_rounds"]), "8\n");
    for (args, code) in [
        (&["config", "colour"][..], 2),
        (&["config", "colour", "1"], 2),
        (&["config", "max_rounds", "0"], 2),
        (&["config", "model", "gpt"], 2),
        (&["config", "alias.ls", "show"], 2),
        (&["config", "--unset", "max_rounds"], 1),
        (&["config", "--unset", "colour"], 2),
        (&["config", "--edit", "max_rounds"], 2),
    ] {
        assert_eq!(home.lepo(args).code, code, "{args:?}");
    }
    for (name, said) in [("max_ronds", "did you mean `max_rounds`?"), ("frobnicate", "lists the settings")] {
        for args in [&["config", name][..], &["config", name, "1"]] {
            assert!(home.lepo(args).err.contains(said), "{args:?}");
        }
    }
    // A variable that wins is said.
    let mut command = home.command(&["config", "max_rounds", "6"]);
    command.env("LEPO_MAX_ROUNDS", "4");
    let ran = crate::home::run(command, b"");
    assert!(ran.code == 0 && ran.err.contains("LEPO_MAX_ROUNDS sets max_rounds too"), "{}", ran.err);
    // Without a file one is made, for its owner only.
    let bare = Home::new();
    bare.ok(&["config", "term.usage", "false"]);
    assert_eq!(bare.read("config/config.toml"), "[term]\nusage = false\n");
}

#[test]
fn the_editor_saves_only_what_can_be_read() {
    let home = Home::with_config(TWO);
    let edit = |editor: &str| {
        let mut command = home.program("setsid", &["-w", env!("CARGO_BIN_EXE_lepo"), "config", "--edit"]);
        command.env("EDITOR", editor);
        crate::home::run(command, b"")
    };
    let ran = edit("sed -i s/max_rounds.*/max_rounds=9/");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert_eq!(home.ok(&["config", "max_rounds"]), "9\n");
    let before = home.read("config/config.toml");
    for (editor, code, said) in [
        ("sed -i s/max_rounds.*/max_rounds=0/", 2, "was not changed"),
        ("sed -i s/max_rounds/colour/", 2, "unknown key `colour`"),
        ("true", 1, "did not change"),
        ("false", 1, "exited with"),
    ] {
        let ran = edit(editor);
        assert_eq!(ran.code, code, "{editor}: {}", ran.err);
        assert!(ran.err.contains(said), "{editor}: {}", ran.err);
        assert_eq!(home.read("config/config.toml"), before);
    }
    // A new file begins with an example, and is none until it is changed.
    let bare = Home::new();
    let mut command = bare.program("setsid", &["-w", env!("CARGO_BIN_EXE_lepo"), "config", "--edit"]);
    command.env("EDITOR", "sed -i 's/^# //'");
    let ran = crate::home::run(command, b"");
    assert_eq!(ran.code, 2, "the first line of the example is prose: {}", ran.err);
    assert!(!bare.path().join("config/config.toml").exists());
}

#[test]
fn a_setting_without_a_value_prints_nothing() {
    let home = Home::new();
    for name in ["model", "many.orchestrator"] {
        let ran = home.lepo(&["config", name]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (1, "", ""), "{name}");
        let ran = home.lepo(&["config", name, "--json"]);
        assert_eq!((ran.code, ran.out.contains(r#""value":"""#)), (1, true), "{}", ran.out);
    }
    assert_eq!(Home::with_config(TWO).ok(&["config", "model"]), "gpt\n");
}

#[test]
fn model_alone_lists_the_models() {
    let home = Home::with_config(TWO);
    for options in [&[][..], &["--json"]] {
        let alone = home.ok(&[&["model"], options].concat());
        assert_eq!(alone, home.ok(&[&["model", "ls"], options].concat()));
        assert!(alone.contains("gpt-4o"), "{alone}");
    }
}
