//! A message for reading: a heading with speaker, time and model, then its text, with Markdown rendered on a
//! terminal.

use std::io::Read;

use super::ShortIds;
use super::incomplete_answers::{AnswerIndex, became_of, ended_early};
use crate::term::{Cleaner, Markdown, Out, Paint, Wrap, columns, full_heading, titled};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_base::time;
use lepo_store::bubb::{BubbName, model_label};
use lepo_store::conv::Forest;
use lepo_store::store::{JournalIndex, Store, now};
use lepo_turn::StoppedAnswers;
use lepo_turn::config::MathNotation;

/// Prints messages of a conversation with the same options.
pub struct MessageView<'s> {
    store: &'s Store,
    forest: &'s Forest,
    facts: JournalIndex,
    shorts: ShortIds,
    stopped: StoppedAnswers,
    now: u64,
    /// Whether Markdown is rendered and prose wrapped.
    formed: bool,
    math: MathNotation,
    paint: Paint,
}

impl<'s> MessageView<'s> {
    /// Creates a view for `out`; `plain` turns rendering off.
    pub fn new(
        store: &'s Store,
        forest: &'s Forest,
        out: &Out,
        paint: Paint,
        (plain, math): (bool, MathNotation),
    ) -> MessageView<'s> {
        let on_terminal = out.is_terminal();
        let facts = if on_terminal { store.journal().index() } else { JournalIndex::default() };
        MessageView {
            store,
            forest,
            facts,
            shorts: ShortIds::on_terminal(on_terminal, forest.all().map(|ix| forest.name(ix).id)),
            stopped: StoppedAnswers::new(store, forest),
            now: now(),
            formed: on_terminal && !plain && paint.is_on(),
            math,
            paint,
        }
    }

    /// Returns the journal's facts about the messages; empty if not on a terminal.
    pub fn facts(&self) -> &JournalIndex {
        &self.facts
    }

    pub fn print(&self, name: &BubbName, out: &mut Out) -> Result<()> {
        let speaker = self.store.speaker(self.forest, name);
        let about = match out.is_terminal() {
            true => {
                let fact = self.facts.get(name.id).unwrap_or_default();
                let is_stopped = self.stopped.contains(name.id);
                let early = ended_early(&fact).filter(|_| !is_stopped).unwrap_or_default().to_string();
                let model = fact.model.filter(|model| speaker.as_ref() != Some(model));
                vec![
                    early,
                    time::short(name.id.time(), self.now),
                    model_label(&model.unwrap_or_default()).to_string(),
                ]
            }
            false => Vec::new(),
        };
        let title = titled(name, &self.shorts.show(name.id), self.stopped.contains(name.id));
        out.trusted(&full_heading((name, &title), speaker.as_deref(), &about, out.columns(), self.paint));
        out.trusted("\n");
        match name.role {
            Role::Assistant if self.formed => self.print_markdown(name, out)?,
            Role::User | Role::System if self.formed => self.print_wrapped(name, out)?,
            _ => copy_bubb(self.store, name, out)?,
        }
        out.trusted(if out.at_line_start() { "\n" } else { "\n\n" });
        Ok(())
    }

    /// Prints messages in order; a terminal also explains, below a question, why it has no answer.
    pub fn print_all(&self, names: &[BubbName], out: &mut Out) -> Result<()> {
        let mut answers = None;
        for (i, name) in names.iter().enumerate() {
            if out.closed() {
                break;
            }
            self.print(name, out)?;
            if !out.is_terminal() || !is_visible(name, Role::User) {
                continue;
            }
            let mut behind = names.iter().skip(i + 1);
            let next =
                behind.find(|name| [Role::User, Role::Assistant].iter().any(|role| is_visible(name, *role)));
            let line = match next.map(|next| next.role) {
                Some(Role::Assistant) => None,
                Some(_) => answers
                    .get_or_insert_with(|| AnswerIndex::new(self.forest, &self.facts))
                    .part_line(name.id, names, &self.shorts),
                None => became_of((self.store, &self.facts), name.id, names, &self.shorts)?,
            };
            if let Some(line) = line {
                out.trusted(&format!("{}\n\n", self.paint.dim(&line)));
            }
        }
        Ok(())
    }

    fn print_markdown(&self, name: &BubbName, out: &mut Out) -> Result<()> {
        let mut markdown = Markdown::new(self.paint, self.math, columns);
        self.render(name, out, |bytes, to| match bytes {
            Some(bytes) => markdown.push(bytes, to),
            None => markdown.finish(to),
        })
    }

    fn print_wrapped(&self, name: &BubbName, out: &mut Out) -> Result<()> {
        let (mut cleaner, mut wrap) = (Cleaner::default(), Wrap::new(columns));
        self.render(name, out, |bytes, to| {
            let mut text = String::new();
            match bytes {
                Some(bytes) => cleaner.push(bytes, &mut text),
                None => cleaner.finish(&mut text),
            }
            for (i, line) in text.split('\n').enumerate() {
                if i > 0 {
                    wrap.newline(to);
                }
                wrap.push(line, to);
            }
            if bytes.is_none() {
                wrap.finish(to);
            }
        })
    }

    /// Prints a bubb's bytes, formatted by `form`, which is called with `None` at the end.
    fn render(
        &self,
        name: &BubbName,
        out: &mut Out,
        mut form: impl FnMut(Option<&[u8]>, &mut String),
    ) -> Result<()> {
        each_piece(self.store, name, |bytes| {
            let mut shown = String::new();
            form(Some(bytes), &mut shown);
            out.trusted(&shown);
            !out.closed()
        })?;
        let mut rest = String::new();
        form(None, &mut rest);
        out.trusted(&rest);
        Ok(())
    }
}

fn is_visible(name: &BubbName, role: Role) -> bool {
    name.role == role && !name.hidden
}

/// Prints a bubb's bytes unchanged.
pub fn copy_bubb(store: &Store, name: &BubbName, out: &mut Out) -> Result<()> {
    each_piece(store, name, |bytes| {
        out.untrusted(bytes);
        !out.closed()
    })
}

/// Reads a bubb in chunks, because it may be larger than memory, until `take` returns false.
fn each_piece(store: &Store, name: &BubbName, mut take: impl FnMut(&[u8]) -> bool) -> Result<()> {
    let mut file = store.open_bubb(name)?;
    let mut buffer = [0; 16 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) if take(&buffer[..n]) => {}
            Ok(_) => return Ok(()),
            Err(error) => {
                let path = store.bubb_path(name).display().to_string();
                return Err(Error::store(format!("cannot read {path}")).because(error));
            }
        }
    }
}
