//! The beginning of a group turn: the conv, the user's own commands, the question. All of it is durable before
//! any model is asked.

use super::{GroupTurn, Moment};
use crate::attach::keep_files;
use crate::report::ToolUse;
use crate::transcript::Transcript;
use crate::{Ask, Event, Start};
use lepo_base::error::Result;
use lepo_secrets::Kept;
use lepo_store::bubb::Kind;

/// The conv that all participants are asked about.
pub struct Opening {
    /// The conv to the question.
    pub transcript: Transcript,
    /// The user's own commands.
    pub tools: Vec<ToolUse>,
}

impl GroupTurn<'_> {
    /// Takes up the conv, and adds what is new to it.
    pub(super) async fn open(&self, ask: Ask) -> Result<Opening> {
        let transcript = Transcript::at(&self.env.store, self.forest, ask.start, &self.env.masking)?;
        let mut opening = Opening { transcript, tools: Vec::new() };
        if let Some(prompt) = ask.system_prompt.filter(|_| ask.start == Start::New) {
            self.add_as(&mut opening.transcript, Kind::System, true, (&prompt, &Kept::typed(&prompt)))?;
        }
        let runner = self.env.runner();
        let mut ran = ask.ran.into_iter();
        for command in &ask.runs {
            let (transcript, mut tell) = (&mut opening.transcript, |event: Event<'_>| self.tell(event));
            let used = match ran.next() {
                Some(carried) => runner.keep_own(transcript, command, &carried, &mut tell)?,
                None => runner.run(transcript, command, &mut tell).await?,
            };
            opening.tools.push(used);
        }
        if let Some(question) = ask.question {
            let typed = question.typed.clone();
            let question = keep_files(&self.env.store, question)?;
            let kept = self.env.masking.kept_question(&question, &typed);
            self.add_as(&mut opening.transcript, Kind::User, false, (&question, &kept))?;
            let note = opening.transcript.tip().and_then(|id| self.env.masking.told_typed(id));
            note.iter().for_each(|note| self.tell(Event::Say(note)));
        }
        Ok(opening)
    }

    /// Adds a bubb that belongs to no reply.
    pub(super) fn add(
        &self,
        transcript: &mut Transcript,
        kind: Kind,
        hidden: bool,
        text: &str,
    ) -> Result<()> {
        let name = transcript.add(kind, hidden, text.as_bytes())?;
        self.env.masking.note_given(name.id, text);
        self.tell(Event::Bubb(&name, Some(text.as_bytes())));
        Ok(())
    }

    /// Adds a bubb that is kept in another form than the models are told.
    fn add_as(
        &self,
        transcript: &mut Transcript,
        kind: Kind,
        hidden: bool,
        (text, kept): (&str, &Kept<'_>),
    ) -> Result<()> {
        let name = transcript.add_as(kind, hidden, text.as_bytes(), kept)?;
        self.tell(Event::Bubb(&name, Some(text.as_bytes())));
        Ok(())
    }

    pub(super) fn tell(&self, event: Event<'_>) {
        self.watch.sees(Moment::Common(event));
    }
}
