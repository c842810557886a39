//! Texts about the files of a question: attached, skipped, or not sent.

use crate::term::StatusLine;
use lepo_base::hint::{Hint, HintTarget};
use lepo_store::bubb::thousands;
use lepo_turn::UnsentFiles;
use lepo_turn::attach::{FolderSummary, SkipReason, SkippedGroup};

/// Returns one line for each reason why files are not sent.
pub fn not_sent(model: &str, unsent: &UnsentFiles, at: HintTarget<'_>) -> Vec<StatusLine> {
    let sentence = |names: &[String], why: String| match names {
        [] => None,
        [one] => Some(StatusLine::note(format!("{one} is not sent: {why}"))),
        [first, rest @ ..] => {
            let more = if rest.len() == 1 { "file" } else { "files" };
            Some(StatusLine::note(format!("{first} and {} more {more} are not sent: {why}", rest.len())))
        }
    };
    let broken = Hint::from("missing in the store, or changed; `lepo fsck` names them");
    let lines = [
        sentence(&unsent.broken, broken.render(at)),
        sentence(&unsent.refused, format!("{model} does not accept them")),
        sentence(&unsent.beyond, format!("earlier files that exceed what {model} accepts in one request")),
    ];
    lines.into_iter().flatten().collect()
}

pub fn gathered(FolderSummary { folder, files, tokens, skipped }: &FolderSummary) -> String {
    let files = if *files == 1 { "1 file".to_string() } else { format!("{files} files") };
    let tokens = format!(", about {} token{}", thousands(*tokens), if *tokens == 1 { "" } else { "s" });
    let skipped: Vec<String> = skipped.iter().map(of_reason).collect();
    let skipped =
        if skipped.is_empty() { String::new() } else { format!("; skipped: {}", skipped.join(", ")) };
    format!("{files} in {folder}{tokens}{skipped}")
}

fn of_reason(SkippedGroup { count, why, named }: &SkippedGroup) -> String {
    let why = match why {
        SkipReason::Link if *count == 1 => "link".to_string(),
        SkipReason::Link => "links".to_string(),
        SkipReason::NotFile => "not regular files".to_string(),
        SkipReason::NotText => "not text".to_string(),
        SkipReason::ManyBytes(most) => format!("more than {} bytes in all", thousands(*most)),
        SkipReason::ManyFiles(most) => format!("more than {most} files"),
        SkipReason::Unreadable => "unreadable".to_string(),
        SkipReason::Hidden => "hidden".to_string(),
        SkipReason::Ignored => "ignored by git".to_string(),
    };
    match named.as_slice() {
        [] => format!("{count} {why}"),
        named => {
            let more = if *count > named.len() { ", …" } else { "" };
            format!("{count} {why} ({}{more})", named.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_folder_tells_what_goes_along_and_what_does_not() {
        let skipped = |count, why, named: &[&str]| SkippedGroup { count, why, named: names(named) };
        let all = vec![
            skipped(1, SkipReason::Link, &["link"]),
            skipped(4, SkipReason::NotText, &["a", "b", "c"]),
            skipped(1, SkipReason::ManyBytes(1 << 20), &["large"]),
            skipped(1, SkipReason::ManyFiles(200), &["last"]),
            skipped(2, SkipReason::Ignored, &[]),
        ];
        for (files, tokens, skipped, words) in [
            (1, 1, Vec::new(), "1 file in src, about 1 token"),
            (
                12,
                1_900,
                all,
                "12 files in src, about 1,900 tokens; skipped: 1 link (link), 4 not text (a, b, c, …), \
                 1 more than 1,048,576 bytes in all (large), 1 more than 200 files (last), 2 ignored by git",
            ),
        ] {
            let folder = "src".to_string();
            assert_eq!(gathered(&FolderSummary { folder, files, tokens, skipped }), words);
        }
    }

    #[test]
    fn files_that_are_not_sent_are_told_by_reason() {
        for (refused, words) in [
            (names(&[]), None),
            (names(&["a"]), Some("note: a is not sent: m does not accept them")),
            (names(&["a", "b"]), Some("note: a and 1 more file are not sent: m does not accept them")),
        ] {
            let lines = not_sent("m", &UnsentFiles { refused, ..UnsentFiles::default() }, HintTarget::SHELL);
            let texts: Vec<String> = lines.iter().map(ToString::to_string).collect();
            assert_eq!(texts, words.into_iter().collect::<Vec<_>>());
        }
    }
}
