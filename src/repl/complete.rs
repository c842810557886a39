//! Completion by Tab: slash commands, and after `/tail` branches and ids with a preview.
//!
//! Names are read on each Tab, texts only for the listed candidates. A candidate is an [`OfferedWord`], and a
//! [`BareWord`] on a line for a shell, because a name may come from an untrusted repository.

use std::collections::HashSet;
use std::sync::Arc;

use reedline::{Completer, CompletionResult, CompletionStatus, Span, Suggestion};

use super::paths::{attachment_completions, completions, last_word};
use super::slash_spec::{ArgumentKind, SlashSpec};
use crate::term::{BareWord, OfferedWord, clean, excerpt_within, notice_input};
use lepo_store::bubb::BubbName;
use lepo_store::store::{AddressCompletion, Store};
use lepo_turn::config::Paths;
use lepo_turn::{OfferCatalog, PromptLibrary};

/// The most ids in a menu; one more character narrows them down.
const OFFERED: usize = 20;
/// The most resources or prompts of a server in a menu.
const SERVED: usize = 100;
/// The width of a preview in columns, less on a narrow terminal.
const PREVIEW: usize = 60;

pub struct Completion {
    store: Arc<Store>,
    paths: Paths,
    offered: CompletionWords,
}

/// Candidates that come neither from the store nor from the disk.
pub struct CompletionWords {
    pub commands: Vec<&'static SlashSpec>,
    pub catalogue: Arc<OfferCatalog>,
    /// The skills, each with its description.
    pub skills: Vec<(String, String)>,
    /// The models, each with its line in the list.
    pub models: Vec<(String, String)>,
}

impl Completion {
    /// Creates the completer without reading anything.
    pub fn new(store: Arc<Store>, paths: Paths, offered: CompletionWords) -> Completion {
        Completion { store, paths, offered }
    }

    /// Returns candidates for an address, each with its preview.
    fn addresses(&self, prefix: &str) -> Vec<(String, String)> {
        let store = &self.store;
        let preview =
            |name: &BubbName| excerpt_within(&store.excerpt_text(name).unwrap_or_default(), PREVIEW);
        let candidate = |offer: AddressCompletion| {
            let preview = offer.about.as_ref().map(preview).unwrap_or_default();
            (offer.word, preview)
        };
        store.address_completions(prefix, OFFERED).unwrap_or_default().into_iter().map(candidate).collect()
    }

    /// Returns the effective prompts, each with the start of its text.
    fn prompts(&self, prefix: &str) -> Vec<(String, String)> {
        let all_prompts =
            PromptLibrary { store: Some(&self.store), paths: &self.paths }.list().unwrap_or_default();
        let prompts = all_prompts.into_iter().filter(|one| one.counts).map(|one| {
            let about = one.prompt.map(|prompt| excerpt_within(&prompt.text, PREVIEW)).unwrap_or_default();
            (format!("/{}", one.name), about)
        });
        let skills = self
            .offered
            .skills
            .iter()
            .map(|(name, about)| (format!("/{name}"), excerpt_within(about, PREVIEW)));
        let mut unique = HashSet::new();
        // A prompt wins over a skill with the same name.
        let fitting = prompts.chain(skills).filter(|(word, _)| word.starts_with(prefix));
        fitting.filter(|(word, _)| unique.insert(word.clone())).collect()
    }

    /// Returns the server names that start with `prefix`, each after `mark`; after a complete server name, the offers of
    /// that server.
    fn server_candidates(&self, mark: char, prefix: &str) -> Vec<(String, String)> {
        let names = self.offered.catalogue.names();
        let is_whole = |name: &String| prefix.starts_with(&format!("{mark}{name}:"));
        if names.iter().any(is_whole) {
            let cut = |about: &str| excerpt_within(about, PREVIEW);
            let offers = self.offered.catalogue.matching(prefix).into_iter();
            return offers.take(SERVED).map(|offer| (offer.word, cut(&offer.about))).collect();
        }
        let words = names.iter().map(|name| format!("{mark}{name}:"));
        words.filter(|word| word.starts_with(prefix)).map(|word| (word, "MCP server".to_string())).collect()
    }

    /// Returns file names for a `!` line, which `sh` parses.
    fn shell_words(&self, line: &str, prefix: &str) -> Vec<(OfferedWord, String)> {
        let (bang, prefix) = prefix.strip_prefix('!').map_or(("", prefix), |prefix| ("!", prefix));
        let before = line.strip_suffix(prefix).unwrap_or_default().trim_start_matches('!');
        // As the first word of the line, a name with `=` would be an assignment, and the next word the command.
        let is_command = before.trim().is_empty();
        let found = completions(prefix, self.paths.home.as_deref()).into_iter();
        let bare = found.filter_map(|path| BareWord::parse(&path, prefix));
        let bare = bare.filter(|path| !is_command || !path.as_str().contains('='));
        bare.filter_map(|path| {
            Some((OfferedWord::parse(&format!("{bang}{}", path.as_str()))?, String::new()))
        })
        .collect()
    }

    /// Returns the candidates for the end of a line, and the offset at which they start.
    fn offers(&self, line: &str) -> (usize, Vec<(OfferedWord, String)>) {
        if line.starts_with('!') {
            let prefix = line.rsplit(char::is_whitespace).next().unwrap_or_default();
            return (line.len() - prefix.len(), self.shell_words(line, prefix));
        }
        let argument = last_word(line, if line.starts_with('/') { "" } else { "@" });
        let at = last_word(line, "@").min(argument);
        let prefix = line.get(at..).unwrap_or_default();
        let offers: Vec<(String, String)> = match line.split_at(at).0.trim_end() {
            "" if at == 0 && prefix.starts_with('/') => self
                .offered
                .commands
                .iter()
                .filter(|command| command.word.starts_with(prefix))
                .map(|command| (command.word.to_string(), command.about.to_string()))
                .chain(self.prompts(prefix))
                .chain(self.server_candidates('/', prefix))
                .collect(),
            _ if prefix.starts_with('@')
                && !["/tail", "/rebase"].iter().any(|word| line.starts_with(word)) =>
            {
                let served = self.server_candidates('@', prefix);
                let found =
                    attachment_completions(prefix.trim_start_matches('@'), self.paths.home.as_deref())
                        .into_iter();
                found.map(|path| (format!("@{path}"), String::new())).chain(served).collect()
            }
            word => {
                match self
                    .offered
                    .commands
                    .iter()
                    .find(|command| command.word == word)
                    .map(|command| &command.takes)
                {
                    Some(ArgumentKind::Model) => {
                        let models = self.offered.models.iter().filter(|(name, _)| name.starts_with(prefix));
                        models.cloned().collect()
                    }
                    Some(ArgumentKind::Address | ArgumentKind::OptionalAddress) => self.addresses(prefix),
                    Some(ArgumentKind::File) => {
                        let found = attachment_completions(prefix, self.paths.home.as_deref()).into_iter();
                        found.map(|path| (path, String::new())).collect()
                    }
                    Some(ArgumentKind::OneOf(words)) => words
                        .iter()
                        .filter(|word| word.starts_with(prefix))
                        .map(|word| (word.to_string(), String::new()))
                        .collect(),
                    _ => Vec::new(),
                }
            }
        };
        let offered =
            offers.into_iter().filter_map(|(word, about)| Some((OfferedWord::parse(&word)?, about)));
        (at, offered.collect())
    }
}

impl Completer for Completion {
    // The editor calls this each time before it waits for input.
    fn poll_completion(&mut self) -> CompletionStatus {
        notice_input();
        CompletionStatus::Idle
    }

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
            .map(|(word, about)| Suggestion {
                append_whitespace: takes_more(word.as_str()),
                description: Some(clean(&about).into_owned()).filter(|about| !about.is_empty()),
                span: Span::new(at, pos),
                value: word.as_str().to_string(),
                ..Suggestion::default()
            })
            .collect();
        if suggestions.is_empty() {
            // Offer the typed word itself: the editor would draw an empty table otherwise.
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

pub struct NoCompletion;

impl Completer for NoCompletion {
    fn complete(&mut self, _: &str, _: usize) -> CompletionResult {
        CompletionResult::fresh(Vec::new())
    }

    fn poll_completion(&mut self) -> CompletionStatus {
        notice_input();
        CompletionStatus::Idle
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lepo_base::env::Env;
    use lepo_store::store::STORE;

    use lepo_base::role::Role;

    use super::*;

    /// Creates a completer for a store with these branches and prompts, next to files with these names.
    fn completion(dir: &Path, names: &[&str]) -> Completion {
        let (store, _) = Store::make(dir, STORE.as_ref(), "").unwrap();
        let bubb = store.create_bubb(Role::User, false, None, 0, b"why?").unwrap();
        for folder in ["_branches", "_prompts"] {
            std::fs::create_dir_all(dir.join(STORE).join(folder)).unwrap();
        }
        for name in names {
            std::fs::write(dir.join(name), "x").unwrap();
            std::fs::write(dir.join(".lepo/_branches").join(name), format!("{}\n", bubb.id)).unwrap();
            std::fs::write(dir.join(".lepo/_prompts").join(format!("{name}.md")), "x").unwrap();
        }
        let home = dir.to_str().unwrap().to_string();
        let paths = Paths::from_env(&Env::from_pairs(&[("HOME", &home)])).unwrap();
        let models = names.iter().map(|name| (name.to_string(), String::new())).collect();
        let commands = super::super::commands::COMMANDS.iter().map(|command| &command.is).collect();
        let skills = names.iter().map(|name| (name.to_string(), String::new())).collect();
        Completion::new(
            Arc::new(store),
            paths,
            CompletionWords { commands, catalogue: Arc::default(), skills, models },
        )
    }

    #[test]
    fn no_name_of_a_repository_is_code_behind_an_exclamation_mark_or_hides_anywhere() {
        let dir = tempfile::tempdir().unwrap();
        let (code, hidden) = (
            ["v;curl${IFS}x|sh;x", "v$(id)", "v`id`", "v&x", "v>x", "v'x", "v{a,b}", "v b", "v*", "v~"],
            ["v\u{202e}x", "v\u{200b}x", "v\u{1b}[31m", "v\u{e0041}", "v\u{2066}x"],
        );
        let completion = completion(dir.path(), &[&["v1.txt", "v한글", "v=x"], &code[..], &hidden].concat());
        let offered = |line: &str| {
            let (_, offers) = completion.offers(line);
            offers.into_iter().map(|(word, _)| word.as_str().to_string()).collect::<Vec<_>>()
        };
        let within = dir.path().display().to_string();
        let bare = |mark: &str| ["v1.txt", "v=x", "v한글"].map(|name| format!("{mark}{within}/{name}"));
        for line in ["!cat ", "!cat a b ", "!a; cat ", "!  cat "] {
            assert_eq!(offered(&format!("{line}{within}/v")), bare(""), "{line}");
        }
        // Here `@` has no meaning, and the first word is a command, not an assignment.
        assert_eq!(offered(&format!("!cat @{within}/v")), [""; 0]);
        assert_eq!(
            offered(&format!("!{within}/v")),
            [format!("!{within}/v1.txt"), format!("!{within}/v한글")]
        );
        for (line, all) in [
            (format!("see @{within}/v"), 13),
            (format!("/attach {within}/v"), 13),
            ("/tail v".to_string(), 8),
            ("/set-model v".to_string(), 13),
            ("/v".to_string(), 13),
        ] {
            let found = offered(&line);
            let is_offered = |name: &&&str| found.iter().any(|word| word.contains(**name));
            assert_eq!(hidden.iter().filter(is_offered).count(), 0, "{line}: {found:?}");
            assert!(
                found.len() >= all.min(8) && found.iter().any(|word| word.contains("v한글")),
                "{line}: {found:?}"
            );
        }
    }
}
