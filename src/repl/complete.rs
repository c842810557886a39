//! Completion by Tab: slash commands, and behind `/tail` branches and ids with a preview.
//!
//! Names are read when they are asked for, and texts only of what is shown.

use std::collections::HashSet;
use std::sync::Arc;

use reedline::{Completer, CompletionResult, Span, Suggestion};

use super::command_words::{CommandWord, Takes};
use super::paths::{completions, named};
use crate::term::excerpt_within;
use lepo_store::bubb::Name;
use lepo_store::store::{Offer, Store};
use lepo_turn::config::Paths;
use lepo_turn::{Catalogue, Prompts};

/// So many ids are offered at once; one more character tells the others apart.
const OFFERED: usize = 20;
/// So many resources or prompts of a server are.
const SERVED: usize = 100;
/// Columns of a preview, less where the terminal has less.
const PREVIEW: usize = 60;

/// Completes entries of one store.
pub struct Completion {
    store: Arc<Store>,
    paths: Paths,
    offered: Offered,
}

/// The words that are offered, besides those of the store and the disk.
pub struct Offered {
    /// The slash commands.
    pub commands: Vec<&'static CommandWord>,
    /// Offers of servers.
    pub catalogue: Arc<Catalogue>,
    /// The skills, each with its description.
    pub skills: Vec<(String, String)>,
    /// The models, each with its line in the list.
    pub models: Vec<(String, String)>,
}

impl Completion {
    /// Reads nothing yet.
    pub fn new(store: Arc<Store>, paths: Paths, offered: Offered) -> Completion {
        Completion { store, paths, offered }
    }

    /// Each with its preview.
    fn addresses(&self, begun: &str) -> Vec<(String, String)> {
        let store = &self.store;
        let preview = |name: &Name| excerpt_within(&store.bubbs().words(name).unwrap_or_default(), PREVIEW);
        let told = |offer: Offer| {
            let preview = offer.about.as_ref().map(preview).unwrap_or_default();
            (offer.word, preview)
        };
        store.addresses().offers(begun, OFFERED).unwrap_or_default().into_iter().map(told).collect()
    }

    /// The prompts by name that count, each with how it begins.
    fn prompts(&self, begun: &str) -> Vec<(String, String)> {
        let listed = Prompts { store: Some(&self.store), paths: &self.paths }.list().unwrap_or_default();
        let prompts = listed.into_iter().filter(|one| one.counts).map(|one| {
            let about = one.prompt.map(|prompt| excerpt_within(&prompt.text, PREVIEW)).unwrap_or_default();
            (format!("/{}", one.name), about)
        });
        let skills = self
            .offered
            .skills
            .iter()
            .map(|(name, about)| (format!("/{name}"), excerpt_within(about, PREVIEW)));
        let mut seen = HashSet::new();
        // A prompt wins over a skill of its name.
        let fitting = prompts.chain(skills).filter(|(word, _)| word.starts_with(begun));
        fitting.filter(|(word, _)| seen.insert(word.clone())).collect()
    }

    /// Servers whose names begin so behind `mark`, or what the one offers whose name is whole.
    fn served(&self, mark: char, begun: &str) -> Vec<(String, String)> {
        let names = self.offered.catalogue.names();
        let is_whole = |name: &String| begun.starts_with(&format!("{mark}{name}:"));
        if names.iter().any(is_whole) {
            let cut = |about: &str| excerpt_within(about, PREVIEW);
            let offered = self.offered.catalogue.offered(begun).into_iter();
            return offered.take(SERVED).map(|offered| (offered.word, cut(&offered.about))).collect();
        }
        let words = names.iter().map(|name| format!("{mark}{name}:"));
        words.filter(|word| word.starts_with(begun)).map(|word| (word, "MCP server".to_string())).collect()
    }

    fn offers(&self, line: &str) -> (usize, Vec<(String, String)>) {
        let begun = line.rsplit(char::is_whitespace).next().unwrap_or_default();
        let at = line.len() - begun.len();
        let offers = match line.split_at(at).0.trim_end() {
            "" if at == 0 && begun.starts_with('/') => self
                .offered
                .commands
                .iter()
                .filter(|command| command.word.starts_with(begun))
                .map(|command| (command.word.to_string(), command.about.to_string()))
                .chain(self.prompts(begun))
                .chain(self.served('/', begun))
                .collect(),
            _ if begun.starts_with('@') && !line.starts_with("/tail") => {
                let served = self.served('@', begun);
                let found = named(begun.trim_start_matches('@'), self.paths.home.as_deref()).into_iter();
                found.map(|path| (format!("@{path}"), String::new())).chain(served).collect()
            }
            _ if line.starts_with('!') => {
                let (bang, begun) = begun.strip_prefix('!').map_or(("", begun), |begun| ("!", begun));
                let found = completions(begun, self.paths.home.as_deref()).into_iter();
                found.map(|path| (format!("{bang}{path}"), String::new())).collect()
            }
            word => {
                match self
                    .offered
                    .commands
                    .iter()
                    .find(|command| command.word == word)
                    .map(|command| &command.takes)
                {
                    Some(Takes::Model) => {
                        let models = self.offered.models.iter().filter(|(name, _)| name.starts_with(begun));
                        models.cloned().collect()
                    }
                    Some(Takes::Address) => self.addresses(begun),
                    Some(Takes::File) => {
                        let found = named(begun, self.paths.home.as_deref()).into_iter();
                        found.map(|path| (path, String::new())).collect()
                    }
                    Some(Takes::OneOf(words)) => words
                        .iter()
                        .filter(|word| word.starts_with(begun))
                        .map(|word| (word.to_string(), String::new()))
                        .collect(),
                    _ => Vec::new(),
                }
            }
        };
        (at, offers)
    }
}

impl Completer for Completion {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let (at, offers) = self.offers(line.get(..pos).unwrap_or_default());
        let takes_more = |value: &str| {
            self.offered
                .commands
                .iter()
                .any(|command| command.word == value && !command.takes.sign().is_empty())
        };
        let suggestions: Vec<Suggestion> = offers
            .into_iter()
            .map(|(value, about)| Suggestion {
                append_whitespace: takes_more(&value),
                description: Some(about).filter(|about| !about.is_empty()),
                span: Span::new(at, pos),
                value,
                ..Suggestion::default()
            })
            .collect();
        if suggestions.is_empty() {
            // The word itself: the editor would draw an empty table otherwise.
            let value = line.get(at..pos).unwrap_or_default().to_string();
            return CompletionResult::fresh(vec![Suggestion {
                value,
                span: Span::new(at, pos),
                ..Suggestion::default()
            }]);
        }
        CompletionResult::fresh(suggestions)
    }
}
