//! `lepo model add` and `rm`: the user's own weights for the embedded program.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::commands::Context;
use crate::term::{ProgressMeter, StatusLine, print_status};
use crate::ui::{answers, is_removable};
use lepo_base::error::{Error, Result};
use lepo_model::weights::{self, NewWeights, SMOLLM2};
use lepo_model::{EmbeddedInstall, ModelConfig, Provider, embedded_program, program_missing};
use lepo_net::fetch::{fetch_into, is_url};
use lepo_net::runtime::current_thread;
use lepo_turn::config::{Paths, Settings, remove_model};

const MOST: u64 = 64 << 30;

/// Hint if the program rejects the weights.
const RUNS: &str = "nothing was added: lepo-embedded runs SmolLM and SmolLM2 of any size (architecture llama, \
    tokenizer smollm, chat template ChatML; F32, F16, BF16, Q4_0 to Q8_1, Q2_K to Q8_K)";

/// Adds weights: copies or downloads them, checks the hash, and asks the model one question before storing
/// them.
pub fn add(
    settings: &Settings,
    paths: &Paths,
    (source, sha256, name): (&str, &str, Option<&str>),
    context: &mut Context<'_>,
) -> Result<()> {
    let name = name.map_or_else(|| named_after(source), str::to_string);
    if !weights::is_name(&name) {
        return Err(Error::usage(format!("{name:?} is not a valid model name"))
            .hint("--name N: letters, digits, -, _ and ."));
    }
    let dir = paths.models();
    if name == SMOLLM2.name || weights::find(&dir, &name).is_some() {
        return Err(Error::usage(format!("a model {name} already exists"))
            .hint(format!("`lepo model rm {name}` removes it; --name takes another name")));
    }
    let program = embedded_program().ok_or_else(program_missing)?;
    let mut bar = ProgressMeter::new(true);
    let mut incoming =
        NewWeights::create(&dir, &mut |progress| bar.show("waiting", progress.done, progress.total))?;
    let mut done = 0;
    let mut take = |bytes: &[u8], total: u64| {
        done += bytes.len() as u64;
        bar.show("reading", done, total.max(done));
        incoming.write(bytes)
    };
    match is_url(source) {
        true => fetch_into(source, MOST, &mut take)?,
        false => read(Path::new(source), &mut take)?,
    }
    drop(bar);
    let weights = incoming.checked(sha256)?.to_path_buf();
    // The file belongs to the user, whatever its temporary name is.
    let installed = EmbeddedInstall { program, weights, named: Some(source.to_string()) };
    let config = ModelConfig::new("embedded:", Provider::Embedded);
    current_thread()?
        .block_on(answers(&config, settings, paths, Some(installed)))
        .map_err(|error| error.hint(RUNS))?;
    let path = incoming.add_as(&name)?;
    context.out.path(&path);
    context.out.flush();
    print_status(&format!("to use it: lepo model use {name}, or once: lepo do -m embedded:{name}"));
    Ok(())
}

pub fn remove(settings: &Settings, paths: &Paths, name: &str) -> Result<()> {
    if !weights::remove(&paths.models(), name)? {
        if settings.models.iter().any(|model| model.name == name) {
            let source = settings.source(&format!("models.{name}"));
            if removes_entry(settings, name)? {
                return Ok(());
            }
            return Err(Error::nothing(format!("{name} is an entry of {source}"))
                .hint("remove it there: lepo config --edit"));
        }
        return Err(
            Error::nothing(format!("no model is named {name}")).hint("`lepo model ls` lists the models")
        );
    }
    let is_of_it = |model: &&ModelConfig| model.provider == Provider::Embedded && model.model == name;
    if let Some(model) = settings.models.iter().find(is_of_it) {
        print_status(&StatusLine::note(format!(
            "{} in {} still names it",
            model.name,
            settings.file.display()
        )));
    }
    Ok(())
}

/// Removes a model entry that `lepo model add` could have written. False for other entries, which have custom
/// settings, and for those in another file.
fn removes_entry(settings: &Settings, name: &str) -> Result<bool> {
    let Some(model) = settings.models.iter().find(|model| model.name == name) else { return Ok(false) };
    if !is_removable(model) || !remove_model(&settings.file, name)? {
        return Ok(false);
    }
    print_status(&format!("removed {name} from {}", settings.file.display()));
    if model.is_active && settings.models.len() > 1 {
        print_status(&StatusLine::note("no model is active now; `lepo model use NAME` makes one active"));
    }
    Ok(true)
}

fn named_after(source: &str) -> String {
    let source = source.split(['?', '#']).next().unwrap_or_default();
    let file = source.rsplit('/').next().unwrap_or_default();
    file.strip_suffix(".gguf").unwrap_or(file).to_string()
}

fn read(path: &Path, take: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
    let failed = |error| Error::usage(format!("cannot read {}", path.display())).because(error);
    let mut file = File::open(path).map_err(failed)?;
    let total = file.metadata().map_err(failed)?.len();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(()),
            count => take(buffer.get(..count).unwrap_or_default(), total)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::named_after;

    #[test]
    fn a_name_is_that_of_the_file() {
        for (source, name) in [
            ("dir/SmolLM2-360M.Q8_0.gguf", "SmolLM2-360M.Q8_0"),
            ("https://h.test/a/b.gguf?download=true", "b"),
            ("weights", "weights"),
        ] {
            assert_eq!(named_after(source), name);
        }
    }
}
