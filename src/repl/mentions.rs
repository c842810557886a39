//! `@PATH` in a question attaches the file.

use std::path::PathBuf;

use super::ask::ask_with;
use super::paths::file_of;
use super::server_prompts::resources;
use super::session::{ReplSession, report_error};
use super::slash::send_along;
use crate::term::{StatusLine, one_line, print_status};
use crate::ui::ViewState;
use lepo_base::error::Result;
use lepo_turn::attach::lookalike;

/// Marks that end a sentence or close a bracket, and rarely end a file name.
const ENDS: &[char] = &[
    '.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '`', '…', '。', '、', '，', '．', '；',
    '：', '！', '？', '）', '」', '』', '》', '”', '’',
];

/// Korean particles, which are written without a blank after the name. Two may be combined.
const PARTICLES: &[&str] = &[
    "을", "를", "이", "가", "은", "는", "의", "에", "에서", "에게", "와", "과", "랑", "이랑", "하고", "로",
    "으로", "도", "만", "부터", "까지", "처럼", "보다",
];

/// Returns the names that a word may mean without particles at its end, the longest first.
fn without_particles(word: &str) -> Vec<&str> {
    let one: Vec<&str> = without_particle(word).collect();
    let two: Vec<&str> = one.iter().copied().flat_map(without_particle).collect();
    let mut names = [one, two].concat();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names
}

fn without_particle(word: &str) -> impl Iterator<Item = &str> {
    PARTICLES.iter().filter_map(|particle| word.strip_suffix(particle))
}

/// Whether a file of this name may be sent: names that consist of dots may not.
fn is_name(path: &str) -> bool {
    path.chars().any(|letter| letter != '.')
}

/// Returns the longest existing path with white space in it after an opening quote that is not closed on its line, as
/// completion leaves it after a folder.
fn open_name(text: &str, exists: impl Fn(&str) -> bool) -> Option<&str> {
    let line = text.strip_prefix('"')?.lines().next()?;
    let ends = line.char_indices().filter(|(_, letter)| letter.is_whitespace()).map(|(at, _)| at);
    let mut paths = ends.chain([line.len()]).filter_map(|at| line.get(..at)).rev();
    paths.find(|path| !line.contains('"') && path.trim().contains(char::is_whitespace) && exists(path))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Mentions {
    /// The question, with `\@` replaced by `@`.
    text: String,
    /// The existing paths, without duplicates.
    paths: Vec<String>,
    /// The mentions that look like paths, but do not exist.
    missing: Vec<String>,
    /// The typed mentions that are not paths.
    not_paths: Vec<String>,
}

/// Finds the mentions: an `@` counts at the start of a word, unless it was pasted.
fn mentions(text: &str, is_pasted: impl Fn(usize) -> bool, exists: impl Fn(&str) -> bool) -> Mentions {
    let mut found = Mentions::default();
    let mut rest = text;
    let mut in_word = false;
    while let Some(next) = rest.chars().next() {
        let at = text.len() - rest.len();
        let after = rest.strip_prefix(next).unwrap_or_default();
        let length = match next {
            _ if in_word => next.len_utf8(),
            '\\' if after.starts_with('@') && !is_pasted(at + 1) => {
                rest = after;
                in_word = true;
                continue;
            }
            '@' if !is_pasted(at) => found.parse_mention(after, &exists) + 1,
            _ => next.len_utf8(),
        };
        let (word, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        found.text.push_str(word);
        in_word = word.ends_with(|last: char| !last.is_whitespace());
        rest = after;
    }
    found
}

impl Mentions {
    /// Parses the mention at the start of `text`, after its `@`; returns its length.
    fn parse_mention(&mut self, text: &str, exists: impl Fn(&str) -> bool) -> usize {
        if let Some((path, _)) = text.strip_prefix('"').and_then(|text| text.split_once('"'))
            && !path.contains('\n')
        {
            match exists(path) {
                true => self.add(path),
                false if !path.is_empty() => self.missing.push(path.to_string()),
                false => {}
            }
            return path.len() + 2;
        }
        if let Some(path) = open_name(text, &exists) {
            self.add(path);
            return path.len() + 1;
        }
        let word = text.split(char::is_whitespace).next().unwrap_or_default();
        let mut path = word;
        loop {
            if is_name(path) && exists(path) {
                self.add(path);
                return path.len();
            }
            match path.strip_suffix(ENDS) {
                Some(shorter) => path = shorter,
                None => break,
            }
        }
        if let Some(name) = without_particles(path).into_iter().find(|name| is_name(name) && exists(name)) {
            self.add(name);
            return name.len();
        }
        if !path.is_empty() {
            self.not_paths.push(format!("@{word}"));
        }
        if path.contains(['/', '.']) {
            self.missing.push(path.to_string());
        }
        word.len()
    }

    fn add(&mut self, path: &str) {
        if !self.paths.iter().any(|known| known == path) {
            self.paths.push(path.to_string());
        }
    }
}

/// Returns the existing files that a text mentions.
pub fn mentioned_files(text: &str) -> Vec<String> {
    mentions(text, |_| false, |path| file_of(path, None).exists()).paths
}

/// Runs a turn with a question from the prompt, and the files that it names.
pub(super) async fn ask_typed(
    session: &mut ReplSession<'_>,
    state: ViewState,
    text: String,
) -> Result<ViewState> {
    let home = session.env.configured.paths.home.clone();
    let file = |path: &str| -> PathBuf { file_of(path, home.as_deref()) };
    let pasted = std::mem::take(&mut session.reader.pasted);
    let found = mentions(&text, |at| pasted.contains(&at), |path| file(path).exists());
    let named = resources(session, &found.not_paths.join(" "));
    let is_resource = |path: &String| !resources(session, &format!("@{path}")).is_empty();
    let (missing, before) = (found.missing.iter().filter(|path| !is_resource(path)), waiting_files(session));
    for path in missing {
        let alike =
            lookalike(&file(path)).map(|alike| format!("; a similar one exists: {}", alike.display()));
        let alike = alike.unwrap_or_default();
        print_status(&StatusLine::note(one_line(&format!("no file {path}: @{path} is sent as text{alike}"))));
    }
    for path in &found.paths {
        if let Err(error) = send_along(session, &file(path), "the question") {
            drop_files(session, before);
            return report_error(state, &error);
        }
    }
    let outcome = ask_with(session, state, Some(found.text), named).await;
    // If the turn did not start, the question names the files again.
    drop_files(session, before);
    outcome
}

/// Returns the number of attached files and of attached texts.
fn waiting_files(session: &ReplSession<'_>) -> (usize, usize) {
    (session.files.len(), session.contexts.len())
}

fn drop_files(session: &mut ReplSession<'_>, (files, contexts): (usize, usize)) {
    session.files.truncate(files);
    session.contexts.truncate(contexts);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_behind_an_at_is_found_at_the_start_of_a_word() {
        const THERE: &[&str] = &[
            "README.md",
            "src",
            "src/",
            "src/main.rs",
            "a b.txt",
            "our docs/",
            "what?",
            "한글.md",
            "me@home.txt",
        ];
        let none: [&str; 0] = [];
        for (text, paths, missing, sent) in [
            ("what is in @README.md?", &["README.md"][..], &none[..], None),
            ("@README.md", &["README.md"], &none, None),
            ("(@README.md) mail me@README.md", &[], &none, None),
            ("see @src/main.rs, and @src.", &["src/main.rs", "src"], &none, None),
            ("@what? and @what?!", &["what?"], &none, None),
            ("@\"a b.txt\": why", &["a b.txt"], &none, None),
            ("@\"a c.txt\" why", &[], &["a c.txt"], None),
            ("@\"open and @README.md", &["README.md"], &none, None),
            ("@\"our docs/ in short", &["our docs/"], &none, None),
            ("@\"our docs/", &["our docs/"], &none, None),
            ("@\"src in short", &[], &none, None),
            ("@README.md and @README.md", &["README.md"], &none, None),
            ("요약: @한글.md\n@README.md。", &["한글.md", "README.md"], &none, None),
            ("@한글.md를 요약해", &["한글.md"], &none, None),
            ("@src/에서, @README.md에서는?", &["src/", "README.md"], &none, None),
            ("@README.md랑 @src까지도", &["README.md", "src"], &none, None),
            ("@.에 @한글.md글 @없다.md를", &[], &[".에", "한글.md글", "없다.md를"], None),
            ("\\@README.md is a \\@ there", &[], &none, Some("@README.md is a @ there")),
            ("a\\@b", &[], &none, None),
            ("@alice and @src/none.rs and @b.c.", &[], &["src/none.rs", "b.c"], None),
            ("@me@home.txt", &["me@home.txt"], &none, None),
            ("@ @. @.. @...", &[], &none, None),
            ("", &[], &none, None),
        ] {
            let found = mentions(text, |_| false, |path| THERE.contains(&path));
            assert_eq!(found.text, sent.unwrap_or(text), "{text}");
            assert_eq!(found.paths, paths, "{text}");
            assert_eq!(found.missing, missing, "{text}");
        }
    }

    #[test]
    fn a_pasted_at_is_text() {
        let text = "@a @b \\@c @server:x";
        let pasted = [0, 7];
        let found = mentions(text, |at| pasted.contains(&at), |path| path.len() == 1);
        assert_eq!(found.text, text);
        assert_eq!(found.paths, ["b"]);
        assert_eq!(found.not_paths, ["@server:x"]);
    }
}
