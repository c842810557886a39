//! The slash commands of a session.

use super::complain::complain;
use super::entered::{Entered, help};
use super::session::Session;
use crate::config::Word;
use crate::error::{Error, Result};
use crate::store::check_branch_name;
use crate::term::{columns, edit, excerpt, say};
use crate::ui;

impl Session<'_> {
    /// Does what a command says. What goes wrong is told, and the prompt comes again.
    pub(super) async fn obey(&mut self, command: Entered) {
        if let Err(error) = self.try_to(command).await {
            complain(&error);
        }
    }

    async fn try_to(&mut self, command: Entered) -> Result<()> {
        match command {
            Entered::Help => say(&help(columns())),
            Entered::New => self.new_conv(),
            Entered::SetModel(name) => self.set_model(name).await?,
            Entered::Mcp => self.servers().await?,
            Entered::SetToolMode(mode) => {
                self.env.use_tool_mode(mode)?;
                say(&format!("tool_call_mode is {} now", mode.word()));
            }
            Entered::Tail(address) => self.tail(&address)?,
            Entered::Show => self.show()?,
            Entered::Branch(name) => self.name_branch(name)?,
            Entered::Wrong(why) => say(&why),
            // These are turns, and the end.
            Entered::Question(_) | Entered::Run(_) | Entered::Retry | Entered::Edit(_) | Entered::Leave => {}
        }
        Ok(())
    }

    /// The MCP servers, which are up for the next turn then.
    async fn servers(&mut self) -> Result<()> {
        let up = async { Ok(self.env.servers().await) };
        let (servers, said) = self.env.interrupt.or(up).await?;
        said.iter().for_each(|text| say(text));
        ui::tool_table(self.out, servers.each());
        self.out.flush();
        Ok(())
    }

    fn new_conv(&mut self) {
        (self.at, self.branch) = (None, None);
        say("The next question begins a new conversation.");
    }

    /// Lists the models with numbers, and takes one; 0 keeps what is.
    async fn set_model(&mut self, wanted: Option<String>) -> Result<()> {
        let configured = &self.env.configured;
        let models = ui::listed_models(&configured.settings, &configured.paths);
        let wanted = match wanted {
            Some(wanted) => wanted,
            None => {
                for (i, model) in models.iter().enumerate() {
                    say(&format!("{:>3}  {}{}", i + 1, model.line(), model.state()));
                }
                const QUESTION: &str = "Number (0 keeps the present one): ";
                self.reader.answer(QUESTION, &self.env.interrupt).await?.unwrap_or_default()
            }
        };
        let wanted = wanted.trim();
        let chosen = match wanted.parse::<usize>() {
            Ok(0) => None,
            Ok(number) => Some(models.get(number - 1)),
            Err(_) if wanted.is_empty() => None,
            Err(_) => Some(models.iter().find(|model| model.name == wanted)),
        };
        match chosen {
            None => say("The model stays as it is."),
            Some(None) => say(&format!("no model {wanted}; /set-model lists them")),
            Some(Some(model)) => {
                let configured = &self.env.configured;
                ui::activate_model(&configured.settings, &configured.paths, &model.name)?;
                self.env.use_model(&model.name)?;
                self.model = None;
                say(&format!("{} answers from now on.", model.name));
            }
        }
        Ok(())
    }

    fn tail(&mut self, address: &str) -> Result<()> {
        let forest = self.store.forest()?;
        let found = self.store.find_bubb(&forest, address)?;
        let id = forest.name(found.ix).id;
        self.at = Some(id);
        self.branch = found.by_branch.then(|| (address.to_string(), id));
        let height = forest.heights(&[found.ix]).first().copied().unwrap_or_default();
        let question =
            forest.last_question(found.ix).map(|ix| self.store.text(&forest.name(ix))).transpose()?;
        say(&format!("on from {id} ({height}): {}", excerpt(&question.unwrap_or_default())));
        Ok(())
    }

    fn show(&mut self) -> Result<()> {
        let forest = self.store.forest()?;
        let begin = self.start(&forest, false)?;
        ui::show_past(self.shown, (self.out, self.paint), &self.store, &forest, begin)
    }

    fn name_branch(&mut self, name: String) -> Result<()> {
        check_branch_name(&name)?;
        let at = self.at.ok_or_else(|| {
            Error::nothing("there is nothing to name yet").hint("ask something first: a branch names a bubb")
        })?;
        if !self.store.make_branch(&name, at)? {
            return Err(Error::nothing(format!("branch {name} is there already"))
                .hint(format!("/tail {name} goes on from it; `lepo branch -f {name}` moves it")));
        }
        say(&format!("branch {name} moves on with the answers"));
        self.branch = Some((name, at));
        Ok(())
    }

    /// A question from the person's editor, shown as if it had been typed; none if nothing came of it.
    pub(super) fn edit(&mut self, text: &str) -> Result<Option<String>> {
        let edited = edit(text.as_bytes(), ".md").and_then(|bytes| {
            String::from_utf8(bytes).map_err(|error| Error::usage("it is not UTF-8").because(error))
        });
        match edited {
            Err(error) => complain(&error),
            Ok(text) if text.trim().is_empty() => say("Nothing was asked."),
            Ok(text) => {
                let text = text.trim_end_matches(['\n', '\r']);
                say(&format!("> {}", text.replace('\n', "\n  ")));
                return Ok(Some(text.to_string()));
            }
        }
        Ok(None)
    }
}
