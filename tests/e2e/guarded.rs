//! What guards text of others is made in one place each.

use crate::paths_in_code::{code_of, short, sources};

/// Text in code, each with the only files that may have it.
const MADE_IN: &[(&str, &[&str])] = &[
    // Text becomes the name of a blob by its parser alone, so that none leads out of `_blobs/`.
    (" ContentHash(", &["lepo-store/bubb/content_hash.rs"]),
    // Names of others stand on a shell's line, and in a session's menu, as words that hide nothing and are no code.
    ("OfferedWord(", &["term/offered_word.rs"]),
    ("BareWord(", &["term/offered_word.rs"]),
    ("Suggestion {", &["repl/complete.rs"]),
    ("CompletionCandidate::new", &["commands/complete.rs"]),
    ("PathCompleter::", &["commands/complete.rs"]),
    (".write_complete(", &["commands/completions.rs"]),
    // The checksum of a download, in any case.
    ("len() == 64", &["commands/model/new.rs"]),
    ("len() != 64", &[]),
];

#[test]
fn what_guards_text_of_others_is_made_in_one_place() {
    let mut wrong = Vec::new();
    let mut seen = vec![0; MADE_IN.len()];
    for file in sources() {
        let (path, code) = (short(&file), code_of(&file));
        for ((made, may), seen) in MADE_IN.iter().zip(&mut seen) {
            let is_there = code.contains(made);
            *seen += usize::from(is_there && may.contains(&path.as_str()));
            if is_there && !may.contains(&path.as_str()) {
                wrong.push(format!("{path} has {made}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for ((made, may), seen) in MADE_IN.iter().zip(seen) {
        assert!(seen >= may.len(), "{made} is not where it is said to be");
    }
}
