//! `lepo model add` for a model of a server: by options and on a terminal, tried with one question.

use serde_json::json;

use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::scripted::{Asked, Reply, Server, openai_sse};

/// A server with two models, which takes the key `sk-right-0123456789`.
fn server() -> Server {
    Server::judging(|_, asked: &Asked| match asked.header("authorization") {
        Some("Bearer sk-right-0123456789") if asked.method == "GET" => {
            let models = json!({"data": [{"id": "small"}, {"id": "large"}]});
            Reply::new(200, models.to_string()).header("content-type", "application/json")
        }
        Some("Bearer sk-right-0123456789") => openai_sse(["Paris."]),
        _ => Reply::new(401, r#"{"error":{"message":"wrong key"}}"#),
    })
}

/// The questions that a server was asked.
fn questions(server: &Server) -> Vec<Asked> {
    server.asked().into_iter().filter(|asked| asked.method == "POST").collect()
}

#[test]
fn a_model_added_by_options_is_asked_one_question_and_becomes_the_active_one() {
    let server = server();
    let home = Home::with_config(
        "# mine\n[[models]]\nname = \"old\"\nprovider = \"ollama\"\nmodel = \"m\"\nactive = true\n",
    );
    let args =
        ["model", "add", "gpt", "--provider", "openai", "--model", "large", "--base-url", &server.url()];
    let args = |key: &[&'static str]| [&args[..], key].concat();
    let ran = home.lepo_with(&args(&["--key", "-"]), b"sk-right-0123456789\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("(not active; `lepo model use gpt` makes it the active one)"), "{}", ran.err);
    let asked = questions(&server);
    assert_eq!(asked.len(), 1);
    let messages = &asked[0].json()["messages"];
    assert_eq!((messages.as_array().unwrap().len(), &messages[0]["role"]), (1, &json!("user")), "{messages}");
    let file = home.read("config/config.toml");
    assert!(file.starts_with("# mine\n") && file.contains("api_key = \"sk-right-0123456789\""), "{file}");
    assert_eq!(home.ok(&["model"]).lines().next(), Some("old ollama m active"));
    assert!(!home.work().join(".lepo").exists(), "no message is kept");

    // A name that is taken is refused before anything is asked.
    let ran = home.lepo_with(&args(&["--key", "-"]), b"sk-right-0123456789\n");
    assert_eq!((ran.code, questions(&server).len()), (2, 1), "{}", ran.err);
    assert!(ran.err.contains("a model named gpt already exists in "), "{}", ran.err);

    // What was added goes again, and the comments stay.
    let ran = home.lepo(&["model", "rm", "gpt"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        home.read("config/config.toml"),
        "# mine\n[[models]]\nname = \"old\"\nprovider = \"ollama\"\nmodel = \"m\"\nactive = true\n"
    );
    let ran = home.lepo_with(&args(&["--key", "-", "--use"]), b"sk-right-0123456789\n");
    assert!(ran.err.contains("(now active; `lepo model use old` switches back)"), "{}", ran.err);
    assert!(home.ok(&["model"]).contains("\ngpt openai large active\n"));
    assert_eq!(home.lepo(&["model", "rm", "old"]).code, 0);
    let file = home.read("config/config.toml");
    assert!(
        file.starts_with("# mine\n") && !file.contains("old") && file.contains("name = \"gpt\""),
        "{file}"
    );
    assert_eq!(home.lepo(&["model", "rm", "gpt"]).code, 0);
    assert_eq!(home.read("config/config.toml").trim_end(), "# mine");
    assert_eq!(home.lepo(&["model", "rm", "gpt"]).code, 1);
}

#[test]
fn a_key_comes_from_a_variable_or_a_command_too() {
    let server = server();
    let home = Home::new();
    let url = server.url();
    let add = ["model", "add", "--base-url", &url, "--model", "small"];
    let mut command = home.command(&[&add[..], &["one", "--key-env", "MY_KEY"]].concat());
    command.env("MY_KEY", "sk-right-0123456789");
    let ran = run(command, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = home.lepo(&[&add[..], &["two", "--key-command", "echo 'sk-right-0123456789'"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let file = home.read("config/config.toml");
    assert!(file.contains("api_key_env = \"MY_KEY\""), "{file}");
    assert!(file.contains("api_key_command = [\"echo\", \"sk-right-0123456789\"]"), "{file}");
    assert!(home.ok(&["model"]).contains("one openai small active\n"), "the first one");
}

#[test]
fn the_address_that_answered_is_the_one_that_is_written() {
    let server = Server::judging(|_, asked: &Asked| match asked.path.as_str() {
        "/v1/chat/completions" => openai_sse(["Paris."]),
        _ => Reply::new(404, "404 page not found"),
    });
    let home = Home::with_config("");
    let root = server.url().trim_end_matches("/v1").to_string();
    let ran = home.lepo(&["model", "add", "mine", "--base-url", &root, "--model", "m"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains(&format!("\nusing {root}/v1\n")), "{}", ran.err);
    let file = home.read("config/config.toml");
    assert!(file.contains(&format!("base_url = \"{root}/v1\"")), "{file}");
    let ran = home.lepo(&["do", "-n", "-m", "mine", "q"]);
    assert!(ran.out.contains("Paris.") && !ran.err.contains("base_url"), "{}", ran.err);
}

#[test]
fn what_does_not_answer_is_not_added_where_nobody_can_be_asked() {
    let server = server();
    let home = Home::with_config("");
    let url = server.url();
    let add = ["model", "add", "gpt"];
    let base = ["--base-url", &url];
    let model = ["--model", "m"];
    for (args, stdin, code, says) in [
        (vec![], "", 2, "missing --provider"),
        (vec!["--provider", "cli"], "", 2, "expected one of openai, anthropic, ollama"),
        (base.to_vec(), "", 2, "missing --model"),
        (
            [&base[..], &model[..], &["--key", "sk-1"]].concat(),
            "",
            2,
            "error: --key takes - and nothing else",
        ),
        ([&base[..], &model[..], &["--key", "-"]].concat(), " \n", 2, "no key on stdin"),
        ([&base[..], &model[..], &["--key", "-"]].concat(), "sk-wrong-0123456789", 3, "wrong key"),
        (
            [&base[..], &model[..], &["--key-env", "NONE"]].concat(),
            "",
            2,
            "gpt was not added: model \"gpt\" has no key: looked for NONE in the environment\n\
             hint: set that variable, or give the key itself: --key -",
        ),
        ([&base[..], &model[..]].concat(), "", 3, "hint: give its key: --key-env NAME, or --key -"),
        (vec!["--base-url", "127.0.0.1:18080", "--model", "m"], "", 2, "hint: http://127.0.0.1:18080\n"),
        (vec!["--base-url", "localhost:18080", "--model", "m"], "", 2, "hint: http://localhost:18080\n"),
        (vec!["--base-url", "no address", "--model", "m"], "", 2, "the address no address "),
        (vec!["--sha256", &"0".repeat(64), "--provider", "openai"], "", 2, "cannot be used with"),
    ] {
        let ran = home.lepo_with(&[&add[..], &args].concat(), stdin.as_bytes());
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
        assert!(!ran.err.contains("sk-wrong") && !ran.err.contains("sk-1"), "{}", ran.err);
        assert!(!ran.err.contains("config.toml"), "nothing was written there: {}", ran.err);
        assert_eq!(home.read("config/config.toml"), "", "{args:?}");
    }
    assert_eq!(questions(&server).len(), 2, "two of them got as far as a question");
}

#[test]
fn on_a_terminal_lepo_asks_for_the_address_the_key_the_model_and_the_name() {
    let server = server();
    let home = Home::new();
    let url = server.url();
    let mut command = home.command(&["model", "add"]);
    command.env("MY_KEY", "x");
    let ran = on_terminal(
        command,
        &[
            ("Provider (openai, anthropic, ollama), or the address of a server: ", "127.0.0.1:9\n"),
            ("begins with http:// or https://: http://127.0.0.1:9", ""),
            ("address of a server: ", &format!("{url}\n")),
            ("[none]: ", "MY_KEY\n"),
            ("MY_KEY is the name of a variable: type $MY_KEY to use it", ""),
            ("[none]: ", "sk-right-0123456789\n"),
            ("  2  large", ""),
            ("Model (number or name): ", "2\n"),
            ("Name, for -m [large]: ", "\n"),
            ("(now active)", ""),
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(!ran.out.contains("sk-right"), "the key is not shown: {}", ran.out);
    let file = home.read("config/config.toml");
    assert!(
        file.contains("model = \"large\"") && file.contains("api_key = \"sk-right-0123456789\""),
        "{file}"
    );
    let mode = std::fs::metadata(home.path().join("config/config.toml")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
}

#[test]
fn on_a_terminal_a_key_that_the_server_refuses_is_asked_for_again() {
    let server = server();
    let add = |steps: &[(&str, &str)]| {
        let home = Home::new();
        let args = ["model", "add", "m", "--base-url", &server.url()];
        let refused = [
            ("prints it [none]: ", "sk-wrong-0123456789\n"),
            ("refused the key: 401 Unauthorized: wrong", ""),
        ];
        let ran = on_terminal(home.command(&args), &[&refused, steps].concat());
        (ran.code, ran.out, home.ok(&["model"]))
    };
    let (code, told, models) = add(&[
        ("[the same]: ", "sk-right-0123456789\n"),
        ("Model (number or name): ", "large\n"),
        ("(now active)", ""),
    ]);
    assert_eq!((code, told.matches("wrong key").count()), (0, 1), "{told}");
    assert!(models.contains("m openai large active\n"), "{models}");

    // Enter keeps the key, and the question about the model fails by it: told once.
    let (code, told, models) = add(&[
        ("[the same]: ", "\n"),
        ("Model (name): ", "large\n"),
        ("wrong key", ""),
        ("Keep it without making it active? (y/N): ", "n\n"),
        ("error: m was not added\r\n", ""),
    ]);
    assert_eq!((code, told.matches("wrong key").count()), (3, 2), "{told}");
    assert!(!models.contains("large"), "{models}");
}

#[test]
fn on_a_terminal_a_model_that_does_not_answer_may_be_kept_but_not_active() {
    let server = server();
    for (answer, kept) in [("n\n", false), ("y\n", true)] {
        let home = Home::new();
        let args =
            ["model", "add", "gpt", "--base-url", &server.url(), "--model", "m", "--key-command", "echo no"];
        let ran = on_terminal(
            home.command(&args),
            &[("wrong key", ""), ("Keep it without making it active? (y/N): ", answer)],
        );
        assert_eq!(ran.code, if kept { 0 } else { 3 }, "{}", ran.out);
        assert_eq!(home.ok(&["model"]).contains("gpt openai m\n"), kept);
    }
}

#[test]
fn every_name_that_is_listed_can_be_asked() {
    let home = Home::with_config("");
    home.write("data/lepo/models/added/Twin.gguf", "");
    let listed = home.ok(&["model"]);
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["smollm2-135m", "Twin"]);
    for name in names {
        let ran = home.lepo(&["do", "-n", "-m", name, "q"]);
        assert!(!ran.err.contains("unknown model"), "{}", ran.err);
    }
    let ran = home.lepo(&["do", "-m", "Triplet", "q"]);
    assert!(ran.err.contains("unknown model \"Triplet\""), "{}", ran.err);
}

#[test]
fn a_model_of_the_configuration_is_removed_there() {
    let home = Home::with_config("[[models]]\nname = \"gpt\"\nprovider = \"cli\"\ncommand = [\"x\"]\n");
    let ran = home.lepo(&["model", "rm", "gpt"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("gpt is an entry of ") && ran.err.contains("config.toml:1\n"), "{}", ran.err);
    assert!(ran.err.contains("hint: remove it there: lepo config --edit"), "{}", ran.err);
}
