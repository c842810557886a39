//! Prints the matches of `lepo grep`: lines for terminals and pipes, paths, ids, or JSON objects.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use schemars::JsonSchema;
use serde::Serialize;

use super::GrepArgs;
use crate::commands::Context;
use crate::term::{self, Out, Paint, Wrap, clean, excerpt_within, warn, width};
use crate::ui::ShortIds;
use crate::view::{IdText, KindWord};
use lepo_base::time;
use lepo_search::{ConvPositions, FoundLine, LineKind};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::Store;

/// Columns of a first question before a match.
const QUESTION: usize = 24;

/// Bytes of a matching line on a terminal, around its first match.
const SHOWN: usize = 1000;

fn shown_part(line: &FoundLine) -> (usize, usize) {
    if line.bytes.len() <= SHOWN {
        return (0, line.bytes.len());
    }
    let first = line.matches.first().map_or(0, |found| found.start);
    let start = first.saturating_sub(SHOWN / 4);
    (start, line.bytes.len().min(start + SHOWN))
}

/// An object per line, for each match.
#[derive(Serialize, JsonSchema)]
pub struct GrepDocument<'d> {
    id: IdText,
    kind: KindWord,
    hidden: bool,
    /// The file, as the user would type it.
    path: String,
    /// Milliseconds since 1970, from the id.
    time: u64,
    /// With --everywhere, the absolute path of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    store: Option<String>,
    conv: ConvFields<'d>,
    /// Its number, from 1.
    line: u64,
    /// The complete line.
    text: Cow<'d, str>,
    /// The first byte of the match in the message.
    start: u64,
    end: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ConvFields<'d> {
    /// The first question of the conversation.
    first: Option<&'d String>,
    height: u32,
}

pub struct Printer<'p, F> {
    args: &'p GrepArgs,
    store: &'p Store,
    convs: ConvPositions<F>,
    questions: HashMap<BubbId, String>,
    /// Titles by root, loaded on first use.
    titles: Option<HashMap<BubbId, String>>,
    /// First question of the conversation whose heading was printed last.
    heading: Option<Option<BubbId>>,
    shorts: ShortIds,
    /// The project, if several stores are searched.
    project: Option<String>,
    out: &'p mut Out,
    paint: Paint,
    printed: usize,
}

impl<'p, F: FnMut(BubbId) -> Option<BubbName>> Printer<'p, F> {
    pub fn new(args: &'p GrepArgs, store: &'p Store, find: F, context: &'p mut Context<'_>) -> Self {
        let (out, paint) = (&mut *context.out, context.paint);
        Printer {
            args,
            store,
            convs: ConvPositions::new(find),
            questions: HashMap::new(),
            titles: None,
            heading: None,
            shorts: ShortIds::new(std::iter::empty()),
            project: None,
            out,
            paint,
            printed: 0,
        }
    }

    /// Sets the project, and the number of lines already printed for earlier ones.
    pub fn of_project(self, project: Option<String>, printed: usize) -> Self {
        Printer { project, printed, ..self }
    }

    /// Returns the number of printed lines, paths or objects.
    pub fn printed(&self) -> usize {
        self.printed
    }

    /// Adds names that need no look-up.
    pub fn preload(&mut self, names: Vec<BubbName>) {
        self.convs.preload(names);
    }

    /// Prints the matches in a bubb. Breaks at the limit, or if the output is closed.
    pub fn print_matches(&mut self, name: &BubbName, lines: &[FoundLine]) -> ControlFlow<()> {
        let most = self.args.n.unwrap_or(usize::MAX);
        if self.args.list {
            match self.args.ids {
                true => {
                    self.project_begins();
                    self.out.line(&name.id.to_string());
                }
                false => self.out.path(&self.store.bubb_path(name)),
            }
            self.printed += 1;
        } else if self.args.json {
            for line in lines.iter().filter(|line| line.kind == LineKind::Match) {
                self.objects(name, line, most);
            }
        } else if let Some(columns) = self.out.columns() {
            self.below_heading(name, lines, most, columns);
        } else {
            self.lines(name, lines, most);
        }
        self.out.row_done(self.printed);
        if self.printed >= most || self.out.closed() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn lines(&mut self, name: &BubbName, lines: &[FoundLine], most: usize) {
        if self.args.has_context() && self.printed > 0 {
            self.out.trusted("--\n");
        }
        let position = self.convs.position(name);
        let question = position.first.map(|first| self.question(&first)).unwrap_or_default();
        let id = self.paint.yellow(&name.id.to_string());
        for line in lines {
            if self.printed >= most {
                return;
            }
            let mark = match line.kind {
                LineKind::Break => {
                    self.out.trusted("--\n");
                    continue;
                }
                LineKind::Context => "-",
                LineKind::Match => {
                    self.printed += 1;
                    ":"
                }
            };
            self.project_begins();
            self.out.trusted(&format!("{id} {} {} ", time::day(name.id.time()), name.role.as_str()));
            let quoted = format!("\"{question}\"");
            let shown = if self.out.is_terminal() { clean(&quoted) } else { quoted.as_str().into() };
            self.out.trusted(&self.paint.dim(&shown));
            self.out.trusted(&format!(" ({}){mark} ", position.height));
            self.text(line);
            self.out.trusted("\n");
        }
    }

    /// Prints a bubb's lines on a terminal, wrapped, below a heading for its conversation.
    fn below_heading(&mut self, name: &BubbName, lines: &[FoundLine], most: usize, columns: usize) {
        let position = self.convs.position(name);
        let first = position.first.map(|first| first.id);
        if self.printed == 0 || self.heading != Some(first) {
            let between = if self.printed > 0 { "\n" } else { "" };
            let heading = self.title_of(position.root, position.first);
            let about = match &self.project {
                Some(project) => format!("{project}  "),
                None => String::new(),
            };
            let room = columns.saturating_sub(width(&about));
            let heading = self.paint.bold(&excerpt_within(&heading, room));
            self.out.trusted(&format!("{between}{}{heading}\n", self.paint.dim(&about)));
            self.heading = Some(first);
        }
        let id = self.paint.yellow(&self.shorts.show(name.id));
        let id = self.paint.file_link(|| self.store.bubb_path(name), &id);
        for line in lines {
            if self.printed >= most {
                return;
            }
            if line.kind == LineKind::Break {
                self.out.trusted("  --\n");
                continue;
            }
            self.printed += usize::from(line.kind == LineKind::Match);
            let about = format!("{} {}", time::day(name.id.time()), name.role.as_str());
            let begin = format!("  {id} {}  ", self.paint.dim(&about));
            let mut shown = String::new();
            let mut wrap = Wrap::new(term::columns);
            wrap.mark(&begin, "    ", &mut shown);
            wrap.push(&self.painted(line), &mut shown);
            wrap.finish(&mut shown);
            self.out.trusted(&shown);
            self.out.trusted("\n");
        }
    }

    fn title_of(&mut self, root: BubbId, first: Option<BubbName>) -> String {
        let store = self.store;
        let titles = self.titles.get_or_insert_with(|| store.titles());
        if let Some(title) = titles.get(&root) {
            return title.clone();
        }
        let words = first.map(|first| store.excerpt_text(&first));
        words.transpose().inspect_err(warn).ok().flatten().unwrap_or_else(|| "(no question)".to_string())
    }

    /// Formats a line, cleaned, with coloured matches; a very long line only around its first match.
    fn painted(&self, line: &FoundLine) -> String {
        let bytes = &line.bytes;
        let (start, end) = shown_part(line);
        let cleaned = |part: Range<usize>| {
            let text = String::from_utf8_lossy(bytes.get(part).unwrap_or_default()).into_owned();
            clean(&text.replace(['\r', '\n'], " ")).into_owned()
        };
        let mut text = String::from(if start > 0 { "..." } else { "" });
        let mut at = start;
        for found in line.matches.iter().filter(|found| found.start >= start && found.end <= end) {
            text += &cleaned(at..found.start);
            text += &self.paint.red(&cleaned(found.clone()));
            at = found.end;
        }
        text += &cleaned(at..end);
        if end < bytes.len() {
            text += "...";
        }
        text
    }

    fn text(&mut self, line: &FoundLine) {
        let bytes = &line.bytes;
        let (mut at, end) = (0, bytes.len());
        let (begin_red, end_red) = self.paint.red_ends();
        let shown = at..end;
        for found in line.matches.iter().filter(|found| found.start >= shown.start && found.end <= shown.end)
        {
            self.out.untrusted(&bytes[at..found.start]);
            self.out.trusted(begin_red);
            self.out.untrusted(&bytes[found.clone()]);
            self.out.trusted(end_red);
            at = found.end;
        }
        self.out.untrusted(&bytes[at..end]);
    }

    /// Writes an object for each match in a line, or one object for a line reported because it does not
    /// match.
    fn objects(&mut self, name: &BubbName, line: &FoundLine, most: usize) {
        let position = self.convs.position(name);
        let first = position.first.and_then(|first| self.store.glance(&first).ok());
        let whole = 0..line.bytes.len();
        let matches = if line.matches.is_empty() { std::slice::from_ref(&whole) } else { &line.matches };
        for found in matches.iter().take(most - self.printed.min(most)) {
            self.out.document(&GrepDocument {
                id: IdText(name.id),
                kind: name.role.into(),
                hidden: name.hidden,
                path: self.store.bubb_path(name).to_string_lossy().into_owned(),
                time: name.id.time(),
                store: self.project.as_ref().map(|_| self.store.path().to_string_lossy().into_owned()),
                conv: ConvFields { first: first.as_ref(), height: position.height },
                line: line.number,
                text: String::from_utf8_lossy(&line.bytes),
                start: line.offset + found.start as u64,
                end: line.offset + found.end as u64,
            });
            self.printed += 1;
        }
    }

    /// Writes the project before a row.
    fn project_begins(&mut self) {
        if let Some(project) = &self.project {
            self.out.untrusted(format!("{project} ").as_bytes());
        }
    }

    fn question(&mut self, first: &BubbName) -> String {
        let (store, columns) = (self.store, QUESTION);
        let read = || match store.excerpt_text(first) {
            Ok(text) => excerpt_within(&text, columns),
            Err(error) => {
                warn(&error);
                String::new()
            }
        };
        self.questions.entry(first.id).or_insert_with(read).clone()
    }
}
