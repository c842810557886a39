//! A first model: offered at the first question where nothing can answer it.

use super::session::Session;
use crate::term::say;
use crate::ui::{WantedModel, add_model};
use lepo_base::error::{Kind, Result};

impl Session<'_> {
    /// Offers to add a model, once, where none is configured and none was found.
    pub(super) async fn offer_model(&mut self) -> Result<()> {
        const QUESTION: &str = "No model is configured. Add one now? (Y/n): ";
        let settings = self.env.settings();
        let may_lack = self.model.is_none() && settings.models.is_empty() && settings.chosen().is_none();
        if self.offered_model || !may_lack || !self.reader.edits() {
            return Ok(());
        }
        if self.env.interrupt.or(self.env.configured.choose()).await.is_ok() {
            return Ok(());
        }
        self.offered_model = true;
        let answer = self.reader.answer(QUESTION, &self.env.interrupt).await?.unwrap_or_else(|| "n".into());
        if !matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes") {
            return Ok(());
        }
        let configured = &self.env.configured;
        let adding = add_model(WantedModel::default(), true, &configured.settings, &configured.paths);
        match self.env.interrupt.or(adding).await {
            Ok(Some(name)) => self.env.use_model(&name),
            Ok(None) => Ok(()),
            Err(error) if matches!(error.kind, Kind::Signal(_)) => {
                say("nothing was added");
                self.env.interrupt.reset();
                Ok(())
            }
            Err(error) => {
                super::complain::complain(&error);
                Ok(())
            }
        }
    }
}
