//! `lepo import` of databases, by way of `lepo-import-db`. Those of llm were made by llm 0.27 and 0.36 and dumped.

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use crate::disk::bubbs;
use crate::home::{Home, run};

/// Makes a database of a dump; false where nothing can.
fn database(home: &Home, dump: &str, file: &str) -> bool {
    crate::home::beside("lepo-import-db");
    let sql = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/interop").join(dump);
    let script = "import sqlite3,sys; sqlite3.connect(sys.argv[2]).executescript(open(sys.argv[1]).read())";
    let made = run(home.program("python3", &["-c", script, sql.to_str().unwrap(), file]), b"");
    if made.code != 0 {
        crate::skip::skipped("python3", format!("no python3 with sqlite3: {}", made.err));
    }
    made.code == 0
}

/// Each bubb as kind, hidden and text, below the text of the one before.
fn stored_texts(home: &Home) -> Vec<String> {
    let all = bubbs(home);
    let text = |id: &str| all.iter().find(|bubb| bubb.id == id).map_or("head", |bubb| bubb.text.as_str());
    let first = |text: &str| text.lines().next().unwrap_or_default().to_string();
    let mut texts: Vec<String> =
        all.iter().map(|bubb| format!("{} > {} {}", first(text(&bubb.prev)), bubb.tag, bubb.text)).collect();
    texts.sort();
    texts
}

#[test]
fn both_generations_of_llm_are_read() {
    for (dump, why) in [("llm-1.sql", "A long novel.\n\nwhy"), ("llm-2.sql", "A long novel.\nwhy")] {
        let home = Home::new();
        if !database(&home, dump, "logs.db") {
            return;
        }
        let document: Value = serde_json::from_str(&home.ok(&["import", "--json", "logs.db"])).unwrap();
        assert_eq!(
            (&document["read"]["conversations"], &document["skipped"]),
            (&2.into(), &serde_json::json!([])),
            "{document}"
        );
        let actual = stored_texts(&home);
        // Two chats that begin alike are two conversations, as they were held at two times.
        assert_eq!(
            actual.iter().filter(|line| *line == "be brief > u0 what is rust").count(),
            2,
            "{actual:#?}"
        );
        assert_eq!(actual.iter().filter(|line| *line == "head > s1 be brief").count(), 2, "{actual:#?}");
        assert!(
            actual
                .iter()
                .any(|line| line
                    .starts_with("A language. > u0 and go\n\n[image/png 8 bytes file.png: _blobs/")),
            "{actual:#?}"
        );
        assert!(actual.contains(&format!("A language. > u0 {why}")), "{actual:#?}");
        assert!(actual.contains(&"A long novel. > a0 Because.".to_string()), "{actual:#?}");
        assert_eq!(actual.len(), 10);
        assert_eq!(home.ok(&["fsck"]), "");
        let again: Value = serde_json::from_str(&home.ok(&["import", "--json", "logs.db"])).unwrap();
        assert_eq!((&again["made"], &again["here"]), (&0.into(), &document["made"]));
        let shown: Value = serde_json::from_str(&home.ok(&["show", "--json"])).unwrap();
        assert_eq!(shown["bubbs"].as_array().unwrap().last().unwrap()["model"], "mock");
    }
}

#[test]
fn opencode_and_open_webui_are_read_and_others_are_refused() {
    let home = Home::new();
    if !database(&home, "opencode.sql", "opencode.db") {
        return;
    }
    let document: Value = serde_json::from_str(&home.ok(&["import", "--json", "db", "opencode.db"])).unwrap();
    assert_eq!(document["sources"][0]["format"], "opencode");
    assert_eq!(
        stored_texts(&home),
        [
            "bash > t1 a",
            "head > u0 list",
            "list > a0 one file",
            "list > a1 bash\n{\"command\":\"ls\"}",
            "list > a1 hm"
        ]
    );
    // Version 2 of opencode has the sessions that go on in tables of their own.
    let newer = Home::new();
    assert!(database(&newer, "opencode-2.sql", "opencode.db"));
    newer.ok(&["import", "opencode", "opencode.db"]);
    assert_eq!(
        stored_texts(&newer),
        [
            "bash > t1 a",
            "head > u0 list",
            "head > u0 old",
            "list > a0 one file",
            "list > a1 bash\n{\"command\":\"ls\"}",
            "list > a1 hm"
        ]
    );
    let chats = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/interop/open-webui.json");
    let script = "import sqlite3,sys,json\nd=sqlite3.connect('webui.db')\nd.execute('create table chat(id,title,chat,created_at)')\n\
        for c in json.load(open(sys.argv[1])): d.execute('insert into chat values(?,?,?,?)',(c['id'],c['title'],json.dumps(c['chat']),c['created_at']))\n\
        d.execute('insert into chat values(1,null,\\'{\\',null)'); d.commit()";
    let (one, other) = (Home::new(), Home::new());
    assert_eq!(run(one.program("python3", &["-c", script, chats.to_str().unwrap()]), b"").code, 0);
    let output = one.lepo(&["import", "webui.db"]);
    assert!(
        output.out.contains("skipped 1: conversation without a visible message"),
        "{}{}",
        output.out,
        output.err
    );
    other.ok(&["import", chats.to_str().unwrap()]);
    assert_eq!(one.bubbs(), other.bubbs());
    // A database of something else, and what only begins as one does.
    run(
        one.program(
            "python3",
            &["-c", "import sqlite3; d=sqlite3.connect('x.db'); d.execute('create table t(a)')"],
        ),
        b"",
    );
    let ran = one.lepo(&["import", "x.db"]);
    assert_eq!((ran.code, ran.err.matches("error: ").count()), (2, 1), "{}", ran.err);
    assert!(ran.err.contains("it is not a database of llm, opencode or Open WebUI"), "{}", ran.err);
    for (report, tables, tool) in [
        (
            "https://github.com/devartifex/copilot-unleashed/pull/140",
            "create table sessions(id,cwd); create table turns(session_id,turn_index,user_message,assistant_response,timestamp)",
            "Copilot CLI",
        ),
        (
            "https://github.com/kenn-io/agentsview/issues/1315",
            "create table sessions(id,working_dir); create table messages(id,session_id,role,content_json); create table usage_ledger(id)",
            "Goose",
        ),
        (
            "https://github.com/vshulcz/deja-vu/issues/2949",
            "create table sessions(id,parent_session_id,title); create table messages(id,session_id,role,parts)",
            "Crush",
        ),
        ("Zed's threads.db", "create table threads(id,summary,updated_at,data_type,data)", "Zed"),
        (
            "Cursor's state.vscdb",
            "create table ItemTable(key,value); create table cursorDiskKV(key,value)",
            "Cursor",
        ),
        (
            "chat.db of macOS",
            "create table chat(ROWID,guid); create table handle(id); create table message(text)",
            "Messages of macOS",
        ),
    ] {
        let script = format!("import sqlite3; d=sqlite3.connect('z.db'); d.executescript('{tables}')");
        let _ = std::fs::remove_file(one.path().join("work/z.db"));
        run(one.program("python3", &["-c", &script]), b"");
        let ran = one.lepo(&["import", "z.db"]);
        let expected = format!("it is a database of {tool}, which lepo cannot read");
        assert!(ran.code == 2 && ran.err.contains(&expected), "{report}: {}", ran.err);
    }
    one.write("work/y.db", b"SQLite format 3\0 and nothing");
    assert_eq!(one.lepo(&["import", "y.db"]).code, 2);
}

#[test]
fn a_database_that_another_program_has_locked_is_named_as_that() {
    let home = Home::new();
    if !database(&home, "llm-1.sql", "logs.db") {
        return;
    }
    let script = "import sqlite3,sys; d=sqlite3.connect('logs.db',isolation_level=None); d.execute('begin exclusive'); \
                  print('held',flush=True); sys.stdin.read()";
    let mut holder = home.program("python3", &["-c", script]);
    let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut held = [0; 4];
    holder.stdout.as_mut().unwrap().read_exact(&mut held).unwrap();
    let ran = home.lepo(&["import", "logs.db"]);
    assert!(ran.code == 2 && ran.err.contains("database is locked"), "{}", ran.err);
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert_eq!(home.lepo(&["import", "logs.db"]).code, 0);
}

#[test]
fn the_list_counts_the_conversations_of_a_database_and_its_hint_works() {
    let home = Home::new();
    home.write(".config/io.datasette.llm/.here", "");
    if !database(&home, "llm-1.sql", "../.config/io.datasette.llm/logs.db") {
        return;
    }
    let listed: Value = serde_json::from_str(&home.ok(&["import", "--json"])).unwrap();
    assert_eq!(
        (&listed["places"][0]["format"], &listed["places"][0]["conversations"]),
        (&"llm".into(), &2.into())
    );
    let shown = run(home.terminal("lepo import"), b"").out;
    assert!(shown.contains("2 sessions"), "{shown}");
    let (_, hint) = shown.split_once("to import them: ").unwrap();
    assert_eq!(hint.trim(), "lepo import llm --all");
    let ran = run(home.shell(hint.trim()), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bubbs(&home).len(), 10);
}

#[test]
fn a_row_of_the_list_is_printed_before_the_database_below_it_is_read() {
    let home = Home::new();
    home.write(".pi/agent/sessions/--w--/s.jsonl", "{\"type\":\"session\",\"id\":\"s\"}\n");
    home.write(".config/io.datasette.llm/logs.db", b"SQLite format 3\0");
    let reader = "#!/bin/sh\nuntil [ -e \"$HOME/seen\" ]; do sleep 0.02; done\nexit 1\n";
    home.write_program("bin/lepo-import-db", reader);
    // A copy of lepo has its own programs beside it.
    let lepo = env!("CARGO_BIN_EXE_lepo");
    let script = format!(
        "cp {lepo} $HOME/bin/lepo
         timeout 60 $HOME/bin/lepo import | {{ read -r row; touch $HOME/seen; echo \"$row\"; cat; }}"
    );
    let listed = run(home.shell(&script), b"").out;
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 2, "{listed}");
    assert_eq!((rows[0][0], rows[0][3]), ("pi", "session"), "{listed}");
    assert_eq!((rows[1][0], &rows[1][2..4]), ("llm", &["1", "database"][..]), "{listed}");
    // The columns are below each other.
    let offsets: Vec<Option<usize>> = listed.lines().map(|line| line.find('/')).collect();
    assert!(offsets[0].is_some() && offsets[0] == offsets[1], "{listed}");
}
