//! Completes arguments: addresses, branches, requests and models of the current store and configuration, each
//! with a preview. Reads names, and only the few bubbs whose preview is shown. Only candidates that need no
//! quotes are offered, because a name may come from a repository: bash puts a candidate on the line verbatim.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::ValueHint;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter};

use super::Context;
use crate::commands::user_env::{UserEnv, own_paths, own_settings};
use crate::term::{BareWord, Color, Out, clean, excerpt};
use crate::ui;
use lepo_base::env::expand_home;
use lepo_base::keyword::Keyword;
use lepo_store::store::{AddressCompletion, Store};
use lepo_tool::mcp::config::all_servers;
use lepo_turn::PromptLibrary;
use lepo_turn::config::{Flags, load_settings, setting_lines};
use lepo_turn::skills::Skills;

/// Maximum candidates: more ids than fit on a screen do not help.
const MOST: usize = 50;

/// Lets an argument offer only [`BareWord`]s, also where its hint is a path.
pub fn with_bare_words(arg: clap::Arg) -> clap::Arg {
    let own = arg.get::<ArgValueCompleter>().cloned();
    let is_path = own.is_none();
    let completer = match (own, arg.get_value_hint()) {
        (Some(own), _) => own,
        (None, ValueHint::Unknown | ValueHint::Other | ValueHint::Url) => return arg,
        (None, ValueHint::DirPath) => ArgValueCompleter::new(PathCompleter::dir()),
        (None, ValueHint::FilePath) => ArgValueCompleter::new(PathCompleter::file()),
        (None, _) => ArgValueCompleter::new(PathCompleter::any()),
    };
    arg.add(ArgValueCompleter::new(move |current: &OsStr| {
        let Some(typed) = current.to_str() else { return Vec::new() };
        let bare = |found: CompletionCandidate| {
            let value = found.get_value().to_str()?;
            if is_path && value.starts_with('-') {
                let value = format!("./{value}");
                return BareWord::parse(&value, typed).map(|_| CompletionCandidate::new(value));
            }
            BareWord::parse(value, typed).map(|_| found)
        };
        let mut found: Vec<_> = completer.complete(current).into_iter().filter_map(bare).collect();
        if is_path {
            // Clap lists files before folders.
            found.sort();
        }
        found
    }))
}

/// Completes an address, or the end of a range.
pub fn address() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let (range, wanted) = match current.to_str() {
            Some(text) => text.rfind("..").map_or(("", text), |at| text.split_at(at + 2)),
            None => return Vec::new(),
        };
        let found = completion_store().map(|there| there.addresses(wanted)).unwrap_or_default();
        found.into_iter().map(|candidate| candidate.add_prefix(range)).collect()
    })
}

/// Completes the number of a change that can be taken back or made again.
pub fn change() -> ArgValueCompleter {
    of_the_store(|there, wanted| {
        let log = there.store.change_list().read();
        let log = log.unwrap_or_default();
        let changes = log.changes().into_iter().map(|change| {
            let about = super::changes::describe(&there.store, &change);
            (change.first.n.to_string(), format!("{} {about}", change.first.command.as_str()))
        });
        changes.filter(|(n, _)| begins(n, wanted)).map(|(n, about)| candidate(n, Some(about))).collect()
    })
}

pub fn branch() -> ArgValueCompleter {
    of_the_store(|there, wanted| there.branches(wanted))
}

pub fn request() -> ArgValueCompleter {
    of_the_store(|there, wanted| {
        let Ok(forest) = there.store.forest() else { return Vec::new() };
        let waiting = forest.pending(|ix| ui::read_request(&there.store, &forest.name(ix))).into_iter();
        let requests =
            waiting.map(|(ix, request)| (forest.name(ix).id.to_string(), Some(excerpt(&request.summary()))));
        requests.filter(|(id, _)| begins(id, wanted)).map(|(id, text)| candidate(id, text)).collect()
    })
}

pub fn one_of(words: &'static [(&'static str, &'static str)]) -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let fitting = words.iter().filter(|(word, _)| begins(word, &current.to_string_lossy()));
        fitting.map(|(word, meaning)| candidate(word.to_string(), Some(meaning.to_string()))).collect()
    })
}

pub fn kind() -> ArgValueCompleter {
    one_of(&[("s", "system"), ("u", "user"), ("a", "assistant"), ("t", "tool")])
}

pub fn model() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Ok(UserEnv { env, paths }) = UserEnv::read() else { return Vec::new() };
        let Ok(settings) = load_settings(&paths, &env, None, &Flags::default()) else { return Vec::new() };
        let begun = current.to_string_lossy();
        let offered = ui::offered_names(&settings, &paths, &begun).into_iter();
        let offered = offered.filter(|(name, _)| begins(name, &begun));
        let offered: Vec<_> = offered.map(|(name, about)| candidate(name, Some(about))).collect();
        let models = settings.models;
        let named = models.into_iter().filter(|model| begins(&model.name, &current.to_string_lossy()));
        let configured = named.map(|model| {
            let is = format!("{} {}", model.provider.as_str(), model.model);
            candidate(model.name, Some(is))
        });
        configured.chain(offered).collect()
    })
}

/// Completes a name that `lepo model rm` removes.
pub fn removable_model() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Ok(UserEnv { env, paths }) = UserEnv::read() else { return Vec::new() };
        let Ok(settings) = load_settings(&paths, &env, None, &Flags::default()) else { return Vec::new() };
        let named = ui::removable_models(&settings, &paths).into_iter();
        let named = named.filter(|(name, _)| begins(name, &current.to_string_lossy()));
        named.map(|(name, about)| candidate(name, Some(about))).collect()
    })
}

/// Completes the name of a setting, with its value.
pub fn setting() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Ok(settings) = own_settings() else { return Vec::new() };
        let fitting = setting_lines(&settings)
            .into_iter()
            .filter(|line| begins(&line.name, &current.to_string_lossy()));
        let settable = fitting.filter(|line| line.name != "model" && !line.name.starts_with("models."));
        settable.map(|line| candidate(line.name, Some(line.value))).collect()
    })
}

/// Completes the name of a prompt or a skill.
pub fn prompt() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Ok(paths) = own_paths() else { return Vec::new() };
        let there = completion_store();
        let store = there.as_ref().map(|there| &there.store);
        let listed = PromptLibrary { store, paths: &paths }.list().unwrap_or_default().into_iter();
        let named = listed.filter(|one| one.counts);
        let named = named.map(|one| (one.name, one.prompt.map(|prompt| excerpt(&prompt.text))));
        let skills = std::env::current_dir().ok().and_then(|dir| Skills::read(&dir, &paths).ok());
        let skills = skills.map(|skills| skills.counting).unwrap_or_default().into_iter();
        let each = named.chain(skills.map(|skill| (skill.name, Some(excerpt(&skill.description)))));
        let fitting = each.filter(|(name, _)| begins(name, &current.to_string_lossy()));
        fitting.map(|(name, about)| candidate(name, about)).collect()
    })
}

pub fn server() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let wanted = current.to_string_lossy();
        let paths = own_paths().ok();
        let servers =
            paths.and_then(|paths| all_servers(&paths.mcp_file(), None, None).ok()).unwrap_or_default();
        let fitting = servers.into_iter().filter(|server| server.name.starts_with(&*wanted));
        fitting.map(|server| candidate(server.name, server.description)).collect()
    })
}

struct CompletionStore {
    store: Store,
}

/// Opens the store that the arguments so far select. Errors are dropped: completion must not print messages.
fn completion_store() -> Option<CompletionStore> {
    let line: Vec<OsString> = std::env::args_os().skip_while(|arg| arg != "--").collect();
    let (cd, save_to) = (option(&line, "-c", "--cd"), option(&line, "-s", "--save-to"));
    let save_to = save_to.or_else(|| option(&line, "-s", "--store"));
    let mut out = Out::stdout();
    let context = Context::new(cd, save_to, Color::Never, &mut out).ok()?.for_reading(true);
    let store = context.find_store().ok()??;
    Some(CompletionStore { store })
}

/// Returns the value of an option on the line, without quotes and with the user's home folder for a `~`.
fn option(line: &[OsString], short: &str, long: &str) -> Option<PathBuf> {
    let after = |arg: &OsString| Some(OsString::from(arg.to_str()?.strip_prefix(long)?.strip_prefix('=')?));
    let value = line.windows(2).find_map(|pair| match pair[0] == short || pair[0] == long {
        true => Some(pair[1].clone()),
        false => after(&pair[0]),
    })?;
    Some(expand_home(PathBuf::from(unquote(&value)), std::env::home_dir().as_deref()))
}

/// Removes the quotes and backslashes of a shell from one argument, also where a quote is still open.
pub fn unquote(arg: &OsStr) -> OsString {
    let closed = |close: &str| match shlex::split(&format!("{}{close}", arg.to_str()?))?.as_slice() {
        [one] => Some(one.clone()),
        // Empty, or with a blank outside quotes, which the shell removed.
        _ => None,
    };
    ["", "'", "\""].into_iter().find_map(closed).map_or_else(|| arg.to_os_string(), OsString::from)
}

fn of_the_store(candidates: fn(&CompletionStore, &str) -> Vec<CompletionCandidate>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        completion_store().map(|there| candidates(&there, &current.to_string_lossy())).unwrap_or_default()
    })
}

impl CompletionStore {
    fn addresses(&self, wanted: &str) -> Vec<CompletionCandidate> {
        let offers = self.store.address_completions(wanted, MOST).unwrap_or_default().into_iter();
        offers.map(|offer| self.candidate(offer)).collect()
    }

    fn branches(&self, wanted: &str) -> Vec<CompletionCandidate> {
        let offers = self.store.branch_completions(wanted).unwrap_or_default().into_iter();
        offers.map(|offer| self.candidate(offer)).collect()
    }

    /// Adds the preview that `ls` prints, or, for an id of the bubb itself, the preview of `log`.
    fn candidate(&self, offer: AddressCompletion) -> CompletionCandidate {
        let preview = offer.about.and_then(|name| {
            let text = excerpt(&self.store.excerpt_text(&name).ok()?);
            Some(if offer.itself { format!("{} {text}", name.tag()) } else { text })
        });
        candidate(offer.word, preview)
    }
}

/// Ids are matched in any case.
fn begins(text: &str, wanted: &str) -> bool {
    text.get(..wanted.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(wanted))
}

fn candidate(value: String, preview: Option<String>) -> CompletionCandidate {
    CompletionCandidate::new(value).help(preview.map(|text| clean(&text).into_owned().into()))
}
