//! `/NAME WORDS`, which is no slash command: a server's prompt, one of the user's own, or a skill.

use super::complete::Offered;
use super::session::Session;
use super::slash::NO_COMMAND;
use crate::ui::State;
use lepo_base::error::Result;
use lepo_turn::TurnEnv;

/// Servers' offers and skills, for completion.
pub(super) fn offered(env: &TurnEnv) -> Result<Offered> {
    let skills = env.configured.skills()?.unwrap_or_default().counting.into_iter();
    Ok((env.catalogue.clone(), skills.map(|skill| (skill.name, skill.description)).collect()))
}

impl Session<'_> {
    /// Takes the turn that a name asks for. Prompts win over skills.
    pub(super) async fn enter_prompt(&mut self, state: State, name: &str, words: &str) -> Result<State> {
        if let Some(wish) = self.server_prompt(name, words) {
            return self.ask_prompt(state, wish?).await;
        }
        match self.prompt(name, words) {
            Ok((text, model)) => self.ask_model(state, text, model).await,
            Err(unknown) if unknown.message.starts_with(NO_COMMAND) => {
                let skill = self.env.configured.skills()?.unwrap_or_default().named(name, unknown)?;
                let text = match words.trim() {
                    "" => skill.asks_for_itself(),
                    words => words.to_string(),
                };
                self.named_skill = Some(skill);
                let asked = self.ask(state, Some(text)).await;
                self.named_skill = None;
                asked
            }
            Err(error) => Err(error),
        }
    }
}
