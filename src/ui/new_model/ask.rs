//! Asks the questions about a new model, one a line, on the terminal.

use super::partial_model::{PartialModel, check_name, checked_url, no_server, provider_of, with_scheme};
use super::trial::list_models;
use crate::term::{StatusLine, TypeAheadPause, clean, fitting, is_yes, on_terminal, print_status};
use crate::ui::models::offered_line;
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_base::hint::HintTarget;
use lepo_base::secret::Secret;
use lepo_model::{ModelFacts, Provider, ServerDefaults};
use lepo_turn::config::{KeyEntry, NewModel, Paths, Settings, planned_model};
use rustix::process::Signal;

/// The most models of a server in a list.
const LISTED: usize = 20;

pub struct Asker<'a> {
    settings: &'a Settings,
    paths: &'a Paths,
}

impl<'a> Asker<'a> {
    pub fn new(settings: &'a Settings, paths: &'a Paths) -> Asker<'a> {
        Asker { settings, paths }
    }

    /// Asks for all missing fields.
    pub async fn complete(&mut self, partial: PartialModel) -> Result<NewModel> {
        let (provider, base_url) = match (partial.provider, partial.base_url) {
            (Some(provider), url) => (provider, url),
            (None, Some(url)) => (Provider::Openai, Some(url)),
            (None, None) => self.provider().await?,
        };
        let Some(facts) = provider.server() else { return Err(no_server(provider)) };
        let (key, is_asked) = match partial.key {
            Some(key) => (key, false),
            None => (self.key(facts, base_url.is_some()).await?, true),
        };
        let mut model = NewModel {
            name: partial.name.clone().unwrap_or_else(|| "new".to_string()),
            provider,
            model: partial.model,
            base_url,
            key,
            is_active: true,
        };
        if model.model.is_none() {
            let models = self.offers(&mut model, is_asked).await?;
            model.model = Some(self.model(&models, &model, facts).await?);
        }
        if partial.name.is_none() {
            model.name = self.name(model.model.as_deref().unwrap_or_default()).await?;
        }
        Ok(model)
    }

    /// Asks whether to add a model that did not answer.
    pub async fn confirm_adding(&mut self, error: &Error) -> Result<bool> {
        print_status(&format!("error: {}", error.chain()));
        if let Some(hint) = error.hint_for(HintTarget::SHELL) {
            print_status(&format!("hint: {hint}"));
        }
        let answer = line("Keep it without making it active? (y/N): ").await?;
        Ok(is_yes(&answer))
    }

    /// Asks whether a model that answered becomes the active one instead of another.
    pub async fn activates(&mut self, name: &str) -> Result<bool> {
        let answer = line(&format!("Make {} the active model? (y/N): ", clean(name))).await?;
        Ok(is_yes(&answer))
    }

    /// Returns the URL at which a server answers, for an address without a scheme: most APIs are below `/v1`.
    async fn probe(&self, typed: &str) -> Option<String> {
        let url = with_scheme(typed)?;
        let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
        let urls = if has_path { vec![url] } else { vec![format!("{url}/v1"), url] };
        for url in urls {
            let new = NewModel {
                name: "new".to_string(),
                provider: Provider::Openai,
                model: Some("-".to_string()),
                base_url: Some(url.clone()),
                key: KeyEntry::None,
                is_active: false,
            };
            let config = planned_model(self.settings, &new, &Env::from_process()).ok()??;
            match list_models(&config, self.settings, self.paths).await {
                Ok(_) => return Some(url),
                Err(error) if error.is_of_key() => return Some(url),
                Err(_) => {}
            }
        }
        None
    }

    async fn provider(&self) -> Result<(Provider, Option<String>)> {
        loop {
            let reply = line("Provider (openai, anthropic, ollama), or the address of a server: ").await?;
            match provider_of(&reply.to_ascii_lowercase()) {
                Some(provider) if provider.server().is_some() => return Ok((provider, None)),
                Some(provider) => {
                    print_status(&no_server(provider).hint_for(HintTarget::SHELL).unwrap_or_default())
                }
                None if reply.contains("://") => match checked_url(&reply) {
                    Ok(url) => return Ok((Provider::Openai, Some(url))),
                    Err(error) => print_status(&error.chain()),
                },
                None if reply.is_empty() => {}
                None => {
                    if let Some(url) = self.probe(&reply).await {
                        print_status(&format!("using {url}"));
                        return Ok((Provider::Openai, Some(url)));
                    }
                    let example = with_scheme(&reply).map(|url| format!(": {url}")).unwrap_or_default();
                    let none = if example.is_empty() { "" } else { "no server answered there; " };
                    print_status(&format!("{none}an address begins with http:// or https://{example}"));
                }
            }
        }
    }

    /// Asks for the source of the key. Enter selects the usual variable if it is set, else no key.
    async fn key(&self, facts: &ServerDefaults, is_elsewhere: bool) -> Result<KeyEntry> {
        let env = Env::from_process();
        let is_set = |name: &str| env.text(name).is_ok_and(|text| text.is_some());
        let usual = facts.key_env.iter().map(|(name, _)| *name).find(|name| !is_elsewhere && is_set(name));
        let enter = usual.map_or("none".to_string(), |name| format!("${name}"));
        let reply = self.typed_key(&enter).await?;
        Ok(reply.unwrap_or_else(|| usual.map_or(KeyEntry::None, |name| KeyEntry::Env(name.to_string()))))
    }

    /// Asks for the source of the key; `None` on Enter, whose meaning `enter` names.
    async fn typed_key(&self, enter: &str) -> Result<Option<KeyEntry>> {
        let env = Env::from_process();
        let is_set = |name: &str| env.text(name).is_ok_and(|text| text.is_some());
        loop {
            let reply = secret(&format!(
                "Key (not shown), or $NAME of a variable, or !COMMAND that prints it [{enter}]: "
            ))
            .await?;
            let words = |text: &str| shlex::split(text).filter(|words| !words.is_empty());
            match (reply.strip_prefix('$'), reply.strip_prefix('!')) {
                (Some(name), _) if !name.is_empty() && !name.contains('=') => {
                    if !is_set(name) {
                        print_status(&StatusLine::note(format!("{} is not set", clean(name))));
                    }
                    return Ok(Some(KeyEntry::Env(name.to_string())));
                }
                (_, Some(command)) => match words(command) {
                    Some(words) => return Ok(Some(KeyEntry::Command(words))),
                    None => print_status("the command cannot be split into words"),
                },
                _ if reply.is_empty() => return Ok(None),
                _ if is_variable(&reply) && is_set(&reply) => {
                    print_status(&format!("{reply} is the name of a variable: type ${reply} to use it"));
                }
                _ => return Ok(Some(KeyEntry::Literal(Secret::new(&*reply)))),
            }
        }
    }

    /// Fetches the models that the server offers. If it rejects the key, asks for another.
    async fn offers(&self, new: &mut NewModel, asks_key: bool) -> Result<Vec<ModelFacts>> {
        loop {
            let named = NewModel { model: Some("-".to_string()), ..new.clone() };
            let Some(config) = planned_model(self.settings, &named, &Env::from_process())? else {
                return Ok(Vec::new());
            };
            match list_models(&config, self.settings, self.paths).await {
                Ok(models) => return Ok(models),
                Err(error) if asks_key && error.is_of_key() => {
                    print_status(&format!("error: {}", error.chain()));
                    let enter = if new.key == KeyEntry::None { "none" } else { "the same" };
                    let Some(key) = self.typed_key(enter).await? else { return Ok(Vec::new()) };
                    new.key = key;
                }
                Err(error) => {
                    print_status(&StatusLine::note(format!("no list of models: {}", error.chain())));
                    return Ok(Vec::new());
                }
            }
        }
    }

    /// Lists the server's models and asks for one, by its number or name.
    async fn model(&self, models: &[ModelFacts], new: &NewModel, facts: &ServerDefaults) -> Result<String> {
        show(models);
        let usual = facts.model.map(|(_, usual)| usual).filter(|_| new.base_url.is_none());
        let usual = match models {
            [only] => Some(only.id.as_str()),
            _ => usual.filter(|usual| models.is_empty() || models.iter().any(|model| model.id == *usual)),
        };
        let enter = usual.map(|usual| format!(" [{}]", clean(usual))).unwrap_or_default();
        let by = if models.is_empty() { "name" } else { "number or name" };
        loop {
            let reply = line(&format!("Model ({by}){enter}: ")).await?;
            let numbered = reply.parse::<usize>().ok().and_then(|number| models.get(number.checked_sub(1)?));
            match (numbered, usual) {
                (Some(model), _) => return Ok(model.id.clone()),
                (None, Some(usual)) if reply.is_empty() => return Ok(usual.to_string()),
                (None, _) if !reply.is_empty() => return Ok(reply),
                (None, _) => {}
            }
        }
    }

    async fn name(&self, model: &str) -> Result<String> {
        let usual: String = model.rsplit('/').next().unwrap_or_default().replace([',', ' '], "-");
        loop {
            let reply = line(&format!("Name, for -m [{}]: ", clean(&usual))).await?;
            let name = if reply.is_empty() { usual.clone() } else { reply };
            match check_name(self.settings, &name) {
                Ok(()) => return Ok(name),
                Err(error) => print_status(&error.chain()),
            }
        }
    }
}

/// Whether a text looks like the name of a variable.
fn is_variable(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
}

/// Lists models with their numbers, as many as fit on the terminal.
fn show(models: &[ModelFacts]) {
    let shown = fitting(1, LISTED).min(models.len());
    for (at, model) in models.iter().take(shown).enumerate() {
        print_status(&format!("{:>3}  {}", at + 1, clean(&offered_line(model))));
    }
    if shown < models.len() {
        print_status(&format!("     and {} more", models.len() - shown));
    }
}

/// Asks for one line; Ctrl+D interrupts the whole command.
async fn line(question: &str) -> Result<String> {
    let question = question.to_string();
    let reply = on_terminal(move |tty, withdrawn| {
        let _asking = TypeAheadPause::pause();
        tty.ask(&question, withdrawn)
    });
    reply.await?.flatten().ok_or_else(|| Error::interrupted(Signal::INT.as_raw() as u8))
}

/// Asks for one line without echo.
async fn secret(question: &str) -> Result<String> {
    let question = question.to_string();
    let reply = on_terminal(move |tty, withdrawn| {
        let _asking = TypeAheadPause::pause();
        tty.ask_secret(&question, withdrawn)
    });
    reply.await?.flatten().ok_or_else(|| Error::interrupted(Signal::INT.as_raw() as u8))
}
