//! `lepo fsck --secrets`: lists apparent secrets in a store without printing them.

use std::collections::BTreeSet;

use super::document::{FsckDocument, SecretFinding};
use crate::commands::Context;
use crate::commands::address_args::resolve_all;
use crate::commands::searched_files::search;
use crate::commands::secret_finder::finder;
use crate::term::{StatusLine, one_line, print_status};
use lepo_base::error::Result;
use lepo_secrets::{SecretFinder, is_binary};
use lepo_store::bubb::BubbName;
use lepo_store::conv::AddressMatch;
use lepo_store::store::Store;

pub fn print_findings(
    store: &Store,
    addresses: &[String],
    as_json: bool,
    context: &mut Context<'_>,
) -> Result<u8> {
    let finder = finder();
    let mut found = Vec::new();
    match addresses {
        [] => search(store, &mut |file, bytes| {
            note(&finder, &bytes, &file.subject(), file.clone_name.clone(), &mut found);
        })?,
        addresses => {
            for name in resolve_names(store, addresses)? {
                note(&finder, &store.read_bubb(&name)?, &name.id.to_string(), None, &mut found);
            }
        }
    }
    if as_json {
        context.out.document(&FsckDocument::Secrets { findings: &found });
    } else {
        for SecretFinding { subject, kind, line, clone_name: clone } in &found {
            let clone = clone.as_ref().map(|clone| format!(" of {clone}")).unwrap_or_default();
            context.out.line(&format!("{} {kind} line {line}{clone}", one_line(subject)));
        }
    }
    let others: BTreeSet<&str> = found.iter().filter_map(|finding| finding.clone_name.as_deref()).collect();
    for other in others {
        print_status(&StatusLine::note(format!(
            "only {other} can mask the secrets of {other}: ask its owner"
        )));
    }
    Ok(u8::from(!found.is_empty()))
}

fn resolve_names(store: &Store, addresses: &[String]) -> Result<Vec<BubbName>> {
    let forest = store.forest()?;
    let mut names = Vec::new();
    for found in resolve_all(store, (&forest, true), addresses)? {
        match found {
            AddressMatch::One(found) => names.push(forest.name(found.ix)),
            AddressMatch::Range(all) => names.extend(all.into_iter().map(|ix| forest.name(ix))),
        }
    }
    Ok(names)
}

/// Records the secrets of a text, and lone AWS ids, which `sync` rejects too; binary files are skipped.
fn note(
    finder: &SecretFinder,
    bytes: &[u8],
    subject: &str,
    clone: Option<String>,
    found: &mut Vec<SecretFinding>,
) {
    if is_binary(bytes) {
        return;
    }
    for secret in finder.find_with_ids(bytes) {
        let line = bytes.iter().take(secret.span.start).filter(|byte| **byte == b'\n').count() + 1;
        found.push(SecretFinding {
            subject: subject.to_string(),
            kind: secret.kind,
            line,
            clone_name: clone.clone(),
        });
    }
}
