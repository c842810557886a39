//! `lepo model add`: adds a model of a server, or the user's own weights.

use std::io::{IsTerminal, Read};

use super::add;
use crate::commands::{Context, complete};
use crate::term::stderr_is_terminal;
use crate::ui::{PartialModel, add_model};
use lepo_base::error::{Error, ExitKind, Result, quoted};
use lepo_base::keyword::{Keyword, parse_keyword};
use lepo_base::secret::Secret;
use lepo_model::Provider;
use lepo_net::runtime::current_thread;
use lepo_turn::Interrupt;
use lepo_turn::config::{KeyEntry, Paths, Settings};

const MOST: u64 = 64 << 10;

/// The arguments of `lepo model add`.
#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// The name of the model, for -m; with --sha256, the file of weights
    #[arg(value_name = "NAME", value_hint = clap::ValueHint::FilePath)]
    name: Option<String>,
    /// The provider: openai (any server with that API), anthropic, or ollama
    #[arg(long, value_name = "P", value_parser = provider, add = complete::one_of(PROVIDERS))]
    provider: Option<Provider>,
    /// The server's own name for the model
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// The address of the server (default: the provider's own)
    #[arg(long, value_name = "URL", value_hint = clap::ValueHint::Url)]
    base_url: Option<String>,
    /// The environment variable that holds the key
    #[arg(long, value_name = "VAR", group = "key_source")]
    key_env: Option<String>,
    /// `-` reads the key from stdin and stores it in config.toml
    #[arg(long, value_name = "-", value_parser = ["-"], hide_possible_values = true, group = "key_source", allow_hyphen_values = true)]
    key: Option<String>,
    /// The command that prints the key
    #[arg(long, value_name = "COMMAND", group = "key_source")]
    key_command: Option<String>,
    /// Make it the active model, even if another one is
    #[arg(long = "use", conflicts_with = "sha256")]
    is_used: bool,
    /// Add weights with this published SHA-256 (64 hexadecimal digits)
    #[arg(long, value_name = "HASH", value_parser = sha256, requires = "name",
        conflicts_with_all = ["provider", "model", "base_url", "key_source"])]
    sha256: Option<String>,
    /// With --sha256: the name of the weights (default: that of the file)
    #[arg(long = "name", value_name = "N", requires = "sha256")]
    weights_name: Option<String>,
}

fn sha256(text: &str) -> std::result::Result<String, String> {
    match text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text.to_string()),
        false => Err("expected 64 hexadecimal digits".into()),
    }
}

/// The providers of servers, and their meanings in completions.
const PROVIDERS: &[(&str, &str)] =
    &[("openai", "any server with that API"), ("anthropic", ""), ("ollama", "")];

fn provider(text: &str) -> std::result::Result<Provider, String> {
    parse_keyword(text, Provider::ALL).filter(|provider| provider.server().is_some()).ok_or_else(|| {
        let servers = Provider::ALL.iter().filter(|provider| provider.server().is_some());
        let words: Vec<&str> = servers.map(|provider| provider.as_str()).collect();
        format!("expected one of {}", words.join(", "))
    })
}

/// Adds the model that the options describe; if they are incomplete, asks on the terminal.
pub fn add(args: NewArgs, settings: &Settings, paths: &Paths, context: &mut Context<'_>) -> Result<()> {
    if let (Some(sha256), Some(source)) = (&args.sha256, &args.name) {
        return add::add(settings, paths, (source, sha256, args.weights_name.as_deref()), context);
    }
    let says_server = args.provider.is_some() || args.base_url.is_some();
    if let Some(name) = args.name.as_deref().filter(|name| !says_server && name.ends_with(".gguf")) {
        return Err(Error::usage(format!("{name} looks like a file of weights"))
            .hint("add it with its hash, as it is published: --sha256 HASH"));
    }
    if let Some(address) = args.name.as_deref().filter(|name| !says_server && name.contains("://")) {
        return Err(Error::usage(format!("{address} is an address, where the name of a model is expected"))
            .hint(format!("`lepo model add NAME --base-url {}` adds one of this server", quoted(address))));
    }
    let has_person = std::io::stdin().is_terminal() && stderr_is_terminal();
    let key = key_of(&args)?;
    let wanted = PartialModel {
        name: args.name,
        provider: args.provider,
        model: args.model,
        base_url: args.base_url,
        key,
        is_used: args.is_used,
    };
    let added = current_thread()?.block_on(async {
        let interrupt = Interrupt::listen()?;
        interrupt.or(add_model(wanted, has_person, settings, paths)).await
    });
    match added {
        Err(mut error) if matches!(error.kind, ExitKind::Signal(_)) => {
            error.message = "interrupted; nothing was added".to_string();
            Err(error)
        }
        added => added.map(|_| ()),
    }
}

/// Returns the source of the API key that the options name.
fn key_of(args: &NewArgs) -> Result<Option<KeyEntry>> {
    if let Some(variable) = &args.key_env {
        return Ok(Some(KeyEntry::Env(variable.clone())));
    }
    if let Some(command) = &args.key_command {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            Error::usage("--key-command cannot be split into words").hint("quote it as for a shell")
        })?;
        return Ok(Some(KeyEntry::Command(words)));
    }
    if args.key.is_none() {
        return Ok(None);
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MOST).read_to_string(&mut text);
    read.map_err(|error| Error::usage("cannot read the key from stdin").because(error))?;
    match text.trim() {
        "" => Err(Error::usage("no key on stdin").hint("pass show openai | lepo model add … --key -")),
        key => Ok(Some(KeyEntry::Literal(Secret::new(key)))),
    }
}
