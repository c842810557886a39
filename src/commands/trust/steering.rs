//! Foreign text that steers models here: instructions of the repository, and messages of the newest
//! conversation that the user did not write.

use std::path::Path;

use crate::commands::Context;
use crate::term::{columns, one_line, quote};
use lepo_base::error::Result;
use lepo_store::bubb::BubbName;
use lepo_store::conv::ReadScope;
use lepo_store::store::Store;
use lepo_turn::config::Trust;
use lepo_turn::instructions::{SentInstructions, record_consent, unagreed_here};
use lepo_turn::{Masking, UnprovenMessage, agree_to_messages, unproven_messages};

/// Text without consent.
pub struct SteeringHere {
    files: Vec<SentInstructions>,
    messages: Vec<UnprovenMessage>,
}

impl SteeringHere {
    /// Reads the instructions for `dir`, if they are sent at all, and the newest conversation of the store.
    pub fn read(
        dir: Option<&Path>,
        store: Option<&Store>,
        (trust, masking): (&Trust, &Masking),
    ) -> Result<SteeringHere> {
        let files = dir.map(|dir| unagreed_here(dir, trust, masking)).transpose()?.unwrap_or_default();
        let messages = store.map(|store| newest(store, trust)).transpose()?.unwrap_or_default();
        Ok(SteeringHere { files, messages })
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.messages.is_empty()
    }

    /// Joins all of it, to measure its size.
    pub fn text(&self) -> String {
        let files = self.files.iter().map(|file| file.text.clone());
        let messages =
            self.messages.iter().map(|message| String::from_utf8_lossy(&message.bytes).into_owned());
        files.chain(messages).collect()
    }

    /// Prints all of it, quoted, so that nothing in it resembles lepo's own output.
    pub fn show(&self, context: &mut Context<'_>) {
        for file in &self.files {
            let what = "  models are told this; a yes agrees to it beforehand";
            show(context, &one_line(&file.absolute_path.to_string_lossy()), what, &file.text);
        }
        for UnprovenMessage { name, bytes, .. } in &self.messages {
            let what = "  you did not write this message of the newest conversation, and models follow it";
            show(
                context,
                &format!("message {} ({})", name.id, name.tag()),
                what,
                &String::from_utf8_lossy(bytes),
            );
        }
    }

    pub fn record_consent(&self, trust: &Trust) -> Result<()> {
        record_consent(&self.files, trust)?;
        agree_to_messages(&self.messages, trust)
    }
}

fn show(context: &mut Context<'_>, name: &str, what: &str, text: &str) {
    let columns = if context.out.is_terminal() { columns() } else { usize::MAX };
    let name = context.paint.bold(name);
    context.out.trusted(&format!("{name}\n{what}\n\n"));
    for line in text.lines() {
        context.out.trusted(&quote("  | ", line, columns));
    }
    context.out.trusted("\n");
}

fn newest(store: &Store, trust: &Trust) -> Result<Vec<UnprovenMessage>> {
    let forest = store.forest_for(&[ReadScope::Tip])?;
    let Some(tip) = forest.newest() else { return Ok(Vec::new()) };
    let path: Vec<BubbName> = forest.conv(tip).path.into_iter().map(|ix| forest.name(ix)).collect();
    unproven_messages(store, trust, &path)
}

/// Returns the trusted messages below these folders, by the paths of their files.
pub fn agreed_messages(trust: &Trust, folders: &[&Path]) -> Result<Vec<String>> {
    let mut paths = trust.recorded_paths(folders)?;
    let is_message = |path: &String| {
        let name = path.trim_matches('"').rsplit('/').next().unwrap_or_default();
        BubbName::parse(name.as_bytes()).is_some()
    };
    paths.retain(is_message);
    Ok(paths.into_iter().map(|path| path.trim_matches('"').to_string()).collect())
}
