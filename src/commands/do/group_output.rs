//! The output of a group turn: recorded answers in its view, and the lines at its end.

use std::fs::File;
use std::sync::Arc;

use super::DoArgs;
use super::document::DoDocument;
use super::output::write_output;
use crate::commands::Context;
use crate::ui::{self, DisplayOptions, EventDocument, GroupDocument, GroupTurnView, SharedView};
use crate::view::ErrorFields;
use lepo_base::error::Result;
use lepo_store::bubb::BubbName;
use lepo_store::store::Store;
use lepo_turn::{
    FinishedAnswer, GroupEvent, GroupMode, GroupOutcome, GroupView, Masking, Outcome, PanelNames, judge_name,
};

pub struct GroupOutput<'g> {
    pub mode: GroupMode,
    pub names: &'g PanelNames,
    pub store: &'g Store,
    pub masking: &'g Arc<Masking>,
}

impl GroupOutput<'_> {
    /// Shows recorded answers in the view of a group turn.
    pub fn show(
        &self,
        outcome: &GroupOutcome,
        question: Option<&str>,
        shown: DisplayOptions,
        context: &mut Context<'_>,
    ) {
        let view = GroupTurnView::new(
            context.out,
            context.paint,
            shown,
            self.mode,
            self.names.clone(),
            (self.store, self.masking.clone()),
            context.at,
        );
        let view = SharedView::new(view);
        view.print_header(question);
        let spoken = |name: &str, outcome: &Outcome| {
            if let Some(answer) = &outcome.answer {
                view.on_event(GroupEvent::Spoken(name, answer));
            }
        };
        match outcome {
            GroupOutcome::Polled(polled) => {
                polled.replies.iter().for_each(|(name, outcome)| spoken(name, outcome));
                polled.judge.iter().for_each(|(name, outcome)| spoken(&judge_name(name), outcome));
            }
            GroupOutcome::Debated(debated) => {
                for speech in &debated.speeches {
                    let answered =
                        FinishedAnswer { name: speech.bubb, usage: Default::default(), cut: None, ms: 0 };
                    view.on_event(GroupEvent::Spoken(&speech.name, &answered));
                }
                if let Some(answer) = &debated.outcome.answer {
                    let text = self.store.text(&answer.name).unwrap_or_default();
                    view.on_event(GroupEvent::Concluded(&text));
                }
            }
        }
        view.end();
    }

    /// Prints the result that the options request, and writes the file of `-o`.
    pub fn print(
        &self,
        args: &DoArgs,
        outcome: &GroupOutcome,
        output: Option<&mut File>,
        context: &mut Context<'_>,
    ) -> Result<()> {
        let group = GroupDocument::new(self.store, self.masking, outcome, context.at);
        let document = args.json.then_some(DoDocument::Group(&group));
        if args.events {
            let error = match outcome {
                GroupOutcome::Polled(polled) => polled.error.as_ref(),
                GroupOutcome::Debated(_) => None,
            };
            let error = error.map(|error| ErrorFields::new(error, context.at));
            context.out.document(&EventDocument::group_end(&group, error));
        } else if let Some(document) = &document {
            context.out.document(document);
        }
        if let Some(file) = output {
            let bubbs = ui::bubbs_to_read(outcome, args.quiet);
            let headings = ui::headings(self.mode, self.names);
            let unmasked = |name: &BubbName| Ok(self.masking.unmasked_text(name.id));
            write_output(file, self.store, document.as_ref(), (&bubbs, &headings), &unmasked)?;
        }
        context.out.flush();
        if !args.quiet && !args.json && !args.events {
            ui::print_ids(self.store, outcome)?;
        }
        Ok(())
    }
}
