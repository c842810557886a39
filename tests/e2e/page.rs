//! `export --format html`: the page as bytes, and as a real browser takes it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::disk::{put, put_all};
use crate::home::{Home, run};

/// Texts that would run in a page that does not escape them. Each would set the title to `pwned`.
const HOSTILE: &str = include_str!("../data/page/xss.txt");

/// A time in 2025, in milliseconds.
const PAST: u64 = 1_760_599_230_000;

/// A home with a forest: a fork, a side branch, a debate.
fn example() -> Home {
    let home = Home::new();
    home.copy(".lepo.example", ".lepo");
    home
}

fn page(home: &Home, args: &[&str]) -> String {
    home.ok(&[&["export", "--format", "html"], args].concat())
}

#[test]
fn the_page_is_one_file_that_allows_itself_alone() {
    let home = example();
    let html = page(&home, &["--all"]);
    assert!(html.starts_with("<!doctype html>"), "{html}");
    let policy = html.split("Content-Security-Policy content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(policy.ends_with("img-src data:; base-uri 'none'; form-action 'none'"), "{policy}");
    for never in ["unsafe-inline", " src=http", "<link", "@import", "url(", " style=", " onclick", "<iframe"]
    {
        assert!(!html.contains(never), "{never}");
    }
    assert_eq!(html, page(&home, &["--all"]), "the same store, the same bytes");
    for (landmark, count) in [("<main>", 1), ("<nav ", 1), ("<h1 ", 1), ("<svg ", 1)] {
        assert_eq!(html.matches(landmark).count(), count, "{landmark}");
    }
    assert!(
        html.contains("<h2 class=c0>claude</h2>") && html.contains("<h2 class=c1>gemini</h2>"),
        "speakers"
    );
    assert!(html.contains("한국어 단어도 셀 수 있어?"));
}

#[test]
fn exactly_what_is_named_is_shown() {
    let home = example();
    let all = page(&home, &["--all"]);
    let one = page(&home, &[]);
    let two = page(&home, &["main", "korean"]);
    let articles = |html: &str| html.matches("<article id=").count();
    assert_eq!((articles(&all), articles(&one), articles(&two)), (13, 4, 7));
    // The first named is the document; the other is kept aside.
    let (shown, aside) = two.split_once("<template").unwrap();
    assert!(shown.contains("Let the shell join them") && !shown.contains("한국어 단어도"));
    assert!(aside.contains("한국어 단어도 셀 수 있어?"));
    // The system prompt and tool calls only on wish.
    assert!(!all.contains("You answer questions about") && !all.contains("read_file"));
    let hidden = page(&home, &["--all", "-a"]);
    assert!(hidden.contains("You answer questions about"));
    assert!(hidden.contains("class=side><details><summary><b>Call or draft</b>"), "a side branch is folded");
    assert!(hidden.contains("<summary><b>Tool output</b>"));
}

#[test]
fn o_names_a_file_that_is_replaced_and_open_opens_it() {
    let home = example();
    home.write("bin/browse", "#!/bin/sh\ncp \"$1\" \"$HOME/seen\"\n");
    assert!(home.shell("chmod +x ../bin/browse").status().unwrap().success());
    home.write("work/page.html", "old");
    assert_eq!(page(&home, &["-o", "page.html"]), "page.html\n");
    let written = std::fs::read_to_string(home.work().join("page.html")).unwrap();
    assert_eq!(written, page(&home, &[]));
    let mut command = home.command(&["export", "--format", "html", "--open"]);
    command.env("BROWSER", format!("{} %s", home.path().join("bin/none").display()));
    command.env("BROWSER", home.path().join("bin/browse")).env("TMPDIR", home.path());
    let ran = run(command, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let opened = PathBuf::from(ran.out.trim());
    assert_eq!(std::fs::read_to_string(opened).unwrap(), written);
    let seen = home.shell("cat \"$HOME/seen\"").output().unwrap().stdout;
    assert_eq!(String::from_utf8(seen).unwrap(), written);
    for (args, code) in [
        (&["--format", "html", "-o", "."][..], 2),
        (&["--format", "html", "main..@"], 2),
        (&["--format", "html", "--all", "main"], 2),
        (&["--all"], 2),
        (&["--open"], 2),
        (&["main", "korean"], 2),
    ] {
        assert_eq!(home.lepo(&[&["export"], args].concat()).code, code, "{args:?}");
    }
}

#[test]
fn a_link_stays_one_and_a_pipe_is_written_to() {
    let home = example();
    let script = "lepo export --format html -o page.html && mkfifo pipe && \
        { cat pipe > got & } && lepo export --format html -o pipe && wait && test -p pipe && \
        cmp got page.html && echo before > file && ln -s file link && ln -s nowhere lost && \
        for name in link lost; do lepo export --format html -o $name; test $? = 2 || exit; done && \
        test -L link && test \"$(cat file)\" = before && test ! -e nowhere && \
        ln -s . folder && lepo export --format html -o folder/new.html && cmp new.html page.html && \
        lepo export --format html -o /dev/stdout | tail -n +1 > got && cmp -n 1000 got page.html && \
        lepo export --format html -o /dev/fd/3 3> third > names && cmp third page.html && \
        lepo export --format html -o /dev/null";
    let ran = home.shell(script).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn an_attached_image_is_in_the_page() {
    let home = Home::new();
    home.ok(&["init"]);
    let png = b"\x89PNG\r\n\x1a\nrest";
    let hash = "f5ad8f2dcb5b5ca2ad7b5a4a0c4ec0f1c67e0d9c64a8f9a0bb6ac7c4a3aa5f4a";
    let real = String::from_utf8(run_sha256(&home, png)).unwrap();
    home.write(&format!("work/.lepo/_blobs/{real}"), png);
    home.write(&format!("work/.lepo/_blobs/{hash}"), b"other");
    home.add(
        &[],
        &format!(
            "what?\n[image/png 12 bytes a.png: _blobs/{real}]\n[image/png 5 bytes b.png: _blobs/{hash}]"
        ),
    );
    let html = page(&home, &[]);
    assert!(html.contains("<img src=\"data:image/png;base64,iVBORw0KGgpyZXN0\" alt=\"a.png\">"), "{html}");
    assert!(
        html.contains("<p class=file><b>b.png</b>"),
        "a blob that is not what its name says is not shown"
    );
}

/// `docs/example.html` is what `lepo -s .lepo.example export --format html --all -o docs/example.html` writes;
/// `LEPO_WRITE_DOCS=1` writes it anew.
#[test]
fn the_example_page_is_in_step() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/example.html");
    let home = Home::new();
    home.copy(".lepo.example", ".lepo.example");
    let made = home.ok(&["-s", ".lepo.example", "export", "--format", "html", "--all"]);
    if std::env::var_os("LEPO_WRITE_DOCS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &made).unwrap();
    }
    let there = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(there == made, "out of step: LEPO_WRITE_DOCS=1 cargo test --test e2e page");
}

#[test]
fn figures_are_those_of_what_is_shown() {
    let home = example();
    let (shown, other) = ("01M80QW7SKYR26SMTCFX133MJ0", "01M80QW5DV255NT2X2MVY0TZ6K");
    assert!(!page(&home, &["--all"]).contains("id=figures"), "without a journal there are none");
    let line = |id: &str, model: &str, output: u64| {
        serde_json::json!({ "time": 1, "bubb": id, "what": "answer", "model": model, "input": 1000, "output": output, "ms": 5 }).to_string()
    };
    home.write(
        "work/.lepo/_journal.ndjson",
        format!("{}\n{}\n", line(shown, "gpt", 234), line(other, "qwen", 9)),
    );
    let one = page(&home, &["@"]);
    assert!(one.contains("1 answer · 1,000 tokens in · 234 out") && one.contains(">gpt<"), "{one}");
    assert!(!one.contains("qwen"), "what is mailed tells nothing of the rest");
    let all = page(&home, &["--all"]);
    assert!(all.contains("2 answers · 2,000 tokens in · 243 out") && all.contains(">qwen<"), "{all}");
}

fn run_sha256(home: &Home, bytes: &[u8]) -> Vec<u8> {
    let ran = run(home.shell("sha256sum"), bytes);
    ran.out.split(' ').next().unwrap().as_bytes().to_vec()
}

/// The page's document as a browser has it once its scripts have run. `None` without a browser.
fn in_browser(home: &Home, file: &Path, more: &[&str]) -> Option<String> {
    let mut there = Command::new("chromium");
    if there.arg("--version").output().is_err() {
        crate::skip::skipped("chromium", "there is no chromium to look with");
        return None;
    }
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args(["--virtual-time-budget=2000", "--dump-dom"]).args(more);
    command.arg(format!("--user-data-dir={}", home.path().join("chromium").display()));
    command.arg(format!("file://{}", file.display())).env("HOME", home.path());
    let ran = run(command, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    Some(ran.out)
}

#[test]
fn an_address_that_names_no_message_breaks_nothing() {
    let home = Home::new();
    home.ok(&["init"]);
    let ids = put_all(&home, PAST, (0..70).map(|i| format!("message {i}, 50%-off [a](#50%-off)")));
    page(&home, &["--all", "-o", "page.html"]);
    let file = home.work().join("page.html").display().to_string();
    for end in ["%", "50%-off", "constructor", "__proto__", &ids[65]] {
        let Some(dom) = in_browser(&home, Path::new(&format!("{file}#{end}")), &[]) else { return };
        // The script came to its end: it has made the messages past the first part.
        let shown = dom.split("<template").next().unwrap();
        assert_eq!(shown.matches("<article ").count(), ids.len(), "#{end}");
        let here = format!("<article id=\"{}\" class=\"a here\"", ids[65]);
        assert_eq!(shown.contains(&here), *end == ids[65], "#{end}");
        assert_eq!(shown.matches(" title=\"Link to this message\"").count(), ids.len(), "#{end}");
    }
}

#[test]
fn each_message_has_a_permanent_link_without_a_script() {
    let home = example();
    let html = page(&home, &["--all"]);
    let ids: Vec<&str> =
        html.split("<article id=").skip(1).map(|rest| rest.split(' ').next().unwrap()).collect();
    assert_eq!(ids.len(), 13);
    for id in ids {
        assert_eq!(html.matches(&format!("<a href=#{id}><time>")).count(), 1, "{id}");
    }
}

#[test]
fn nothing_hostile_runs_in_a_browser() {
    let home = Home::new();
    home.ok(&["init"]);
    let cases: Vec<&str> = HOSTILE.split("\n---\n").collect();
    assert!(cases.len() > 60);
    let mut prev = "head".to_string();
    for (i, case) in cases.iter().enumerate() {
        let tag = ["u0", "a0", "t0", "a0"][i % 4];
        prev = put(&home, PAST + i as u64, tag, &prev, case);
    }
    // All of them at once, in names too: a branch, a speaker, a model.
    home.ok(&["branch", "<script>document.title='pwned';"]);
    home.add(&["--kind", "s", "--hidden"], "SELECT: <script>document.title='pwned'</script>");
    let answer = home.add(&["--kind", "a"], &cases.join("\n\n"));
    let model = "\"><script>document.title='pwned'</script>";
    let fact = serde_json::json!({ "time": 1, "bubb": answer, "what": "answer", "model": model, "ms": 5 });
    home.write("work/.lepo/_journal.ndjson", format!("{fact}\n"));
    for args in [&["--all"][..], &["--all", "-a"]] {
        page(&home, &[args, &["-o", "page.html"]].concat());
        let Some(dom) = in_browser(&home, &home.work().join("page.html"), &[]) else { return };
        assert!(dom.contains("<html lang=\"en\" class=\"js\""), "its own script runs: {dom:.300}");
        assert!(!dom.contains("<title>pwned"), "{args:?}");
        let shown = dom.split("<template").next().unwrap();
        assert!(!shown.contains("<noscript") && shown.matches("<article ").count() > cases.len() / 2);
        let parts = dom.split(['<']).filter(|tag| tag.starts_with("script") || tag.starts_with("iframe"));
        assert_eq!(parts.count(), 2, "no scripts but its own");
        for (tag, attribute) in tags(&dom) {
            assert!(!attribute.starts_with("on") && attribute != "style", "{tag} {attribute}");
        }
    }
}

/// Each attribute of each element of a serialized document.
fn tags(dom: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for tag in dom.split('<').skip(1).filter(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic())) {
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        if ["script", "style", "meta"].contains(&name.as_str()) {
            continue;
        }
        // Values are quoted, and `>` within them too.
        let (mut quoted, mut inside) = (false, String::new());
        for c in tag.chars().skip(name.len()) {
            match c {
                '"' => quoted = !quoted,
                '>' if !quoted => break,
                c if !quoted => inside.push(c),
                _ => {}
            }
        }
        let attributes =
            inside.split_whitespace().map(|word| word.trim_end_matches('=').to_ascii_lowercase());
        found.extend(attributes.map(|attribute| (name.clone(), attribute)));
    }
    found
}

#[test]
fn the_script_draws_links_and_searches() {
    let home = example();
    page(&home, &["--all", "-o", "page.html"]);
    let file = home.work().join("page.html");
    let Some(dom) = in_browser(&home, &file, &[]) else { return };
    assert!(dom.contains("class=\"on\" d=\"M16 15V45"), "the chosen path is marked");
    assert!(dom.contains(">Should tally ignore upper and lower case?</a>"), "the forest has words");
    assert!(dom.contains("title=\"Link to this message\""));
    // A link to a message of another conversation shows that one.
    let id = "01M80QW4VQEW5T6RYATD24TD5E";
    let linked = file.with_file_name(format!("page.html#{id}"));
    let dom = in_browser(&home, &linked, &[]).unwrap();
    let shown = dom.split("<template").next().unwrap();
    assert!(shown.contains(&format!("<article id=\"{id}\" class=\"a here\"")), "{shown}");
    assert!(shown.contains("2/2</span>") && shown.contains(">Compare</button>"), "the fork can be turned");
    // Without the script: the chosen conversation as a document.
    let plain = std::fs::read_to_string(&file).unwrap();
    let body = plain.split("<div id=conv").nth(1).unwrap().split("<template").next().unwrap();
    assert!(body.contains("<h2>User</h2>") && body.contains("leave the default"));
}

/// With scripts the first messages are made at once and the others when the browser is idle.
#[test]
fn a_long_conversation_is_whole_with_scripts_and_without() {
    let home = Home::new();
    home.ok(&["init"]);
    put_all(&home, PAST, (0..130).map(|i| format!("message **{i}** of 'many' & <more>")));
    page(&home, &["-o", "page.html"]);
    let file = home.work().join("page.html");
    let bytes = std::fs::read_to_string(&file).unwrap();
    let first = bytes.split("<noscript>").next().unwrap();
    assert_eq!(first.matches("<article id=").count(), 50);
    // Without scripts `<noscript>` means nothing, and all of it is the document.
    let conv = bytes.split("<div id=conv").nth(1).unwrap().split("</main>").next().unwrap();
    assert_eq!((conv.matches("<noscript>").count(), conv.matches("</noscript>").count()), (1, 1));
    assert_eq!((conv.matches("<article id=").count(), conv.matches("<div class=part>").count()), (130, 3));
    let Some(dom) = in_browser(&home, &file, &[]) else { return };
    let conv = dom.split("<div id=\"conv\"").nth(1).unwrap().split("</main>").next().unwrap();
    assert_eq!((conv.matches("<article ").count(), conv.matches("class=\"part\"").count()), (130, 3));
    assert!(!conv.contains("<noscript>"));
    let said = |i: usize| match i % 2 {
        0 => format!("<p class=\"typed\">message **{i}** of 'many' &amp; &lt;more&gt;</p>"),
        _ => format!("<p>message <strong>{i}</strong> of 'many' &amp; &lt;more&gt;</p>"),
    };
    let places: Vec<usize> = (0..130).map(|i| conv.find(&said(i)).unwrap()).collect();
    assert!(places.is_sorted());
    assert!(dom.contains(">message **128** of 'many' &amp; &lt;more&gt;</a>"), "the forest has words");
    // A link leads to a message that was not made yet.
    let last = home.bubbs().last().unwrap()[..26].to_string();
    let dom = in_browser(&home, &file.with_file_name(format!("page.html#{last}")), &[]).unwrap();
    assert!(dom.contains(&format!("<article id=\"{last}\" class=\"a here\"")));
}
