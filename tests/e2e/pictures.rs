//! The pictures of the READMEs, `docs/pictures/`: true output, small, and shown in both.
//!
//! `LEPO_WRITE_DOCS=1 cargo test --test e2e pictures` draws the session; `scripts/pictures` makes both.

use std::path::{Path, PathBuf};

use crate::bots::Bot;
use crate::common::vectors::sha256;
use crate::screen::Screen;

const COLUMNS: usize = 84;
const ROWS: usize = 26;

/// The largest size of a picture, in bytes.
const LARGEST: usize = 100_000;

const REQUEST: &str = r#"{"access":"read","command":"git log --oneline","why":"to see what changed"}"#;
const ANSWER: &str = "Two commits, both about **speed**:\n\n- `Cache the start page` keeps its HTML for a minute;\n\
    - `Read the settings once` saves a file per request.\n\n```sh\ngit show --stat HEAD\n```\n";

fn pictures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures")
}

#[test]
fn both_readmes_show_small_pictures() {
    for (file, readme) in
        [("README.md", include_str!("../../README.md")), ("README.ko.md", include_str!("../../README.ko.md"))]
    {
        for name in ["session.svg", "page.png"] {
            assert!(readme.contains(&format!("](docs/pictures/{name})")), "{file} does not show {name}");
            let size = std::fs::metadata(pictures().join(name)).unwrap().len() as usize;
            assert!(size < LARGEST, "{name} has {size} bytes");
        }
    }
}

#[test]
fn the_picture_of_the_page_has_the_text_of_the_example() {
    let page = include_str!("../../docs/example.html");
    let source = sha256(visible_text(page).as_bytes());
    let picture = std::fs::read(pictures().join("page.png")).unwrap();
    let found = picture.windows(source.len()).any(|bytes| bytes == source.as_bytes());
    assert!(found, "docs/pictures/page.png is of another text: scripts/pictures makes it again");
}

/// Returns the text of a page without scripts, styles and tags, as `scripts/pictures` does.
fn visible_text(page: &str) -> String {
    let mut rest = page.to_string();
    for name in ["script", "style"] {
        let end = format!("</{name}>");
        while let Some(start) = rest.find(&format!("<{name}")) {
            let length = rest[start..].find(&end).unwrap() + end.len();
            rest.replace_range(start..start + length, "");
        }
    }
    let texts = rest.split('<').enumerate().map(|(index, part)| match part.split_once('>') {
        Some((_, text)) if index > 0 => text,
        _ => part,
    });
    texts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_session_is_what_a_terminal_shows() {
    let bot = Bot::saying("", &[r#"{"tool":"command"}"#, REQUEST, r#"{"tool":"none"}"#, ANSWER]);
    let config = bot.home.read("config/config.toml").replace("name = \"test\"", "name = \"demo\"");
    bot.home.write("config/config.toml", config);
    let commit = "git -c user.name=x -c user.email=x@x commit -q --allow-empty -m";
    let date = "export GIT_AUTHOR_DATE='2026-11-22 12:00 +0000' GIT_COMMITTER_DATE='2026-11-22 12:00 +0000'";
    let script = format!(
        "{date}; git init -q . && {commit} 'Start page' && {commit} 'Read the settings once' && \
         {commit} 'Cache the start page'"
    );
    assert!(bot.home.shell(&script).status().unwrap().success());
    let Some(screen) = Screen::sized(&bot.home.command(&[]), &bot.home, (COLUMNS, ROWS)) else { return };
    screen.prompts("> ").enters("What changed last?").shows("Run it?");
    if !screen.text().contains("Sandboxed (bubblewrap)") {
        crate::skip::skipped("bwrap", "the picture shows a sandbox");
        return;
    }
    screen.enters("y").shows("demo · ").prompts("> ");
    let painted = screen.painted().replace(&bot.home.path().display().to_string(), "/home/ana");
    let drawn = draw(&with_one_duration(&painted));
    let path = pictures().join("session.svg");
    if std::env::var_os("LEPO_WRITE_DOCS").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == drawn, "LEPO_WRITE_DOCS=1 cargo test --test e2e pictures draws it again:\n{drawn}");
}

/// Replaces the seconds that an answer took, which differ with each run.
fn with_one_duration(painted: &str) -> String {
    let lines = painted.lines().map(|line| match line.split_once("demo · ") {
        Some((before, duration)) if duration.contains(" s") => format!("{before}demo · 0.4 s"),
        _ => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Draws what a terminal shows, with its colours, as SVG.
fn draw(painted: &str) -> String {
    const LINE: usize = 20;
    let rows: Vec<&str> = painted.lines().collect();
    let (width, height) = (COLUMNS * 8 + 40, rows.len() * LINE + 40);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\n\
         <style>text{{font:13.3px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#d6d6d6;\
         white-space:pre}}.b{{font-weight:bold;fill:#fff}}.d{{fill:#8c8c8c}}.c31{{fill:#ff7b72}}\
         .c32{{fill:#7ee787}}.c33{{fill:#e3b341}}.c34{{fill:#79c0ff}}.c35{{fill:#d2a8ff}}\
         .c36{{fill:#56d4dd}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#16181d\"/>\n"
    );
    let mut paint = Paint::default();
    for (index, row) in rows.iter().enumerate() {
        let spans = paint.spans(row);
        if !spans.is_empty() {
            let y = index * LINE + 33;
            svg += &format!("<text x=\"20\" y=\"{y}\" xml:space=\"preserve\">{spans}</text>\n");
        }
    }
    svg + "</svg>\n"
}

/// How the next character is painted.
#[derive(Default)]
struct Paint {
    is_bold: bool,
    is_dim: bool,
    colour: Option<u8>,
}

impl Paint {
    /// Returns a row of text and SGR sequences as spans.
    fn spans(&mut self, row: &str) -> String {
        let mut spans = String::new();
        for (index, part) in row.split("\u{1b}[").enumerate() {
            let text = match part.split_once('m') {
                Some((codes, text)) if index > 0 => {
                    codes.split(';').for_each(|code| self.apply(code.parse().unwrap_or_default()));
                    text
                }
                _ => part,
            };
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            let classes = self.classes();
            match (text.is_empty(), classes.is_empty()) {
                (true, _) => {}
                (false, true) => spans += &text,
                (false, false) => spans += &format!("<tspan class=\"{classes}\">{text}</tspan>"),
            }
        }
        spans
    }

    fn apply(&mut self, code: u8) {
        match code {
            0 => *self = Paint::default(),
            1 => self.is_bold = true,
            2 => self.is_dim = true,
            22 => (self.is_bold, self.is_dim) = (false, false),
            30..=37 => self.colour = Some(code),
            39 => self.colour = None,
            _ => {}
        }
    }

    fn classes(&self) -> String {
        let colour = self.colour.map(|colour| format!("c{colour}"));
        let names = [self.is_bold.then(|| "b".to_string()), self.is_dim.then(|| "d".to_string()), colour];
        names.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
