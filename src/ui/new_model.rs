//! Adds a model to the configuration: asks for missing fields on a terminal, tries the model with one question and
//! writes the file.

mod ask;
mod partial_model;
mod trial;

use crate::term::{clean, print_status, tty};
use ask::Asker;
use lepo_base::env::Env;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::hint::{Hint, quoted};
use lepo_model::Provider;
use lepo_turn::config::{self, KeyEntry, NewModel, Paths, Settings, planned_model};
pub use partial_model::{PartialModel, no_server};
use partial_model::{check_name, checked_url, name_taken};
pub use trial::answers;

/// Adds a model: asks the user, if there is one, for missing fields, sends the model one question, and adds it if
/// it answers: as the active one if it is the first or if `is_used`. Returns its name, or `None` if the user
/// rejects it.
pub async fn add_model(
    partial: PartialModel,
    has_person: bool,
    settings: &Settings,
    paths: &Paths,
) -> Result<Option<String>> {
    if let Some(name) = &partial.name {
        check_name(settings, name)?;
    }
    let partial =
        PartialModel { base_url: partial.base_url.as_deref().map(checked_url).transpose()?, ..partial };
    let mut asker = Asker::new(settings, paths);
    let is_used = partial.is_used || settings.models.iter().all(|model| !model.is_active);
    let model = match has_person && tty().is_some() {
        true => asker.complete(partial).await?,
        false => of_options(partial)?,
    };
    let Some(mut config) = planned_model(settings, &model, &Env::from_process())? else {
        return Err(name_taken(settings, &model.name));
    };
    // The configuration line that the key would come from is not written yet.
    match &model.key {
        KeyEntry::None => {}
        KeyEntry::Literal(_) => config.key.looked_for = "the one given".to_string(),
        KeyEntry::Env(variable) => config.key.looked_for = format!("{variable} in the environment"),
        KeyEntry::Command(_) => config.key.looked_for = "the output of --key-command".to_string(),
    }
    print_status(&format!("asking {} a question…", model.name));
    let tried = match config.require_key() {
        Ok(()) => answers(&config, settings, paths, None).await,
        Err(error) => {
            Err(error.hint("set that variable, or give the key itself: --key - reads it from stdin"))
        }
    };
    let mut model = model;
    let is_active = match tried {
        Ok(other) => {
            if let Some(right) = other {
                print_status(&format!("using {}", clean(&right)));
                model.base_url = Some(right);
            }
            is_used || has_person && asker.activates(&model.name).await?
        }
        Err(error) if matches!(error.kind, ExitKind::Signal(_)) => return Err(error),
        Err(mut error) => {
            if error.hint.as_ref().is_some_and(Hint::wants_key) {
                error = error.hint("give its key: --key-env NAME, or --key - to read it from stdin");
            }
            if has_person && !asker.confirm_adding(&error).await? {
                // The reason is on the terminal already.
                return Err(Error::new(error.kind, format!("{} was not added", model.name)));
            }
            if !has_person {
                error.message = format!("{} was not added: {}", model.name, error.message);
                return Err(error);
            }
            false
        }
    };
    let model = NewModel { is_active, ..model };
    if !config::add_model(&settings.file, &model)? {
        return Err(name_taken(settings, &model.name));
    }
    let before = settings.models.iter().find(|model| model.is_active && is_active);
    let state = match (is_active, before) {
        (true, Some(before)) => {
            format!(" (now active; `lepo model use {}` switches back)", quoted(&before.name))
        }
        (true, None) => " (now active)".to_string(),
        (false, _) => {
            format!(" (not active; `lepo model use {}` makes it the active one)", quoted(&model.name))
        }
    };
    print_status(&format!("added {} to {}{state}", model.name, settings.file.display()));
    Ok(Some(model.name))
}

fn of_options(partial: PartialModel) -> Result<NewModel> {
    let PartialModel { name, provider, model, base_url, key, .. } = partial;
    let missing = |option: &str, about: &str| {
        Error::usage(format!("missing {option}"))
            .hint(format!("{about}; on a terminal, `lepo model add` asks for what is missing"))
    };
    // A URL without a provider is assumed to be a server with OpenAI's API, as most are.
    let provider = provider.or(base_url.as_ref().map(|_| Provider::Openai));
    let Some(provider) = provider else {
        return Err(missing("--provider", "--provider openai, anthropic or ollama, or --base-url URL"));
    };
    let Some(name) = name else { return Err(missing("NAME", "give the model a name for -m")) };
    let Some(facts) = provider.server() else { return Err(no_server(provider)) };
    let Some(model) = model else {
        return Err(missing("--model", &format!("the server's own name for it, as in {}", facts.example)));
    };
    Ok(NewModel {
        name,
        provider,
        model: Some(model),
        base_url,
        key: key.unwrap_or(KeyEntry::None),
        is_active: true,
    })
}
