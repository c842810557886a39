//! Reusable prompts: `_prompts/NAME.md` of a store or of the configuration folder. They are plain text with
//! the placeholders `$1` to `$9`, `$*` and `$stdin`; a first line `model: NAME` chooses the model.

use std::path::Path;

use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};

/// A prompt as written in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate {
    /// The model that answers, if the prompt names it.
    pub model: Option<String>,
    /// The text without that line.
    pub text: String,
}

/// Values for the placeholders of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct TemplateValues<'f> {
    /// Arguments after the prompt's name.
    pub args: &'f [String],
    /// The text of stdin, if there was any.
    pub stdin: Option<&'f str>,
}

/// Checks that a prompt can have this name: a path component without white space.
pub fn check_prompt_name(name: &str) -> Result<()> {
    let good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let ok = !name.is_empty() && name.len() <= 100 && !name.starts_with(['.', '-']) && name.chars().all(good);
    match ok {
        true => Ok(()),
        false => Err(Error::usage(format!("{name:?} is not a valid prompt name"))
            .hint("a name is made of letters, digits, - _ and .")),
    }
}

/// Returns the names of the prompts in a folder, sorted. A missing folder has no prompts.
pub fn prompt_names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?.strip_suffix(".md")?.to_string();
        (check_prompt_name(&name).is_ok() && entry.path().is_file()).then_some(name)
    };
    let mut names: Vec<String> = std::fs::read_dir(folder).into_iter().flatten().filter_map(name).collect();
    names.sort();
    names
}

impl PromptTemplate {
    /// Parses the bytes of `path`.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<PromptTemplate> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let offset = error.valid_up_to();
            Error::usage(format!("{}: not UTF-8 at byte {offset}", path.display()))
        })?;
        let first = text.lines().next().unwrap_or_default();
        let model = first.strip_prefix("model:").map(str::trim).filter(|name| !name.is_empty());
        let rest = match model {
            Some(_) => text.split_once('\n').map_or("", |(_, rest)| rest),
            None => text,
        };
        Ok(PromptTemplate {
            model: model.map(str::to_string),
            text: rest.trim_matches(['\n', '\r']).to_string(),
        })
    }

    /// Returns the text with all placeholders replaced, and whether `$stdin` was among them. Inserted text is
    /// not expanded again. Arguments are appended if no placeholder refers to any. Exit 2 for a `$1` without
    /// an argument.
    pub fn fill(&self, name: &str, filling: TemplateValues<'_>) -> Result<(String, bool)> {
        let TemplateValues { args, stdin } = filling;
        let (mut filled, mut rest) = (String::new(), self.text.as_str());
        let (mut used, mut used_stdin) = (false, false);
        while let Some((before, after)) = rest.split_once('$') {
            filled.push_str(before);
            rest = after;
            if let Some(after) = after.strip_prefix("stdin") {
                filled.push_str(stdin.unwrap_or_default());
                (rest, used_stdin) = (after, true);
            } else if let Some(after) = after.strip_prefix('*') {
                filled.push_str(&args.join(" "));
                (rest, used) = (after, true);
            } else if let Some(number) = placeholder(after) {
                let word = args.get(number - 1).ok_or_else(|| {
                    Error::usage(format!(
                        "prompt {name} needs an argument for ${number}, but got {}",
                        args.len()
                    ))
                    .hint(Hint::default().bare(HintCommand::Prompt(name.to_string())))
                })?;
                filled.push_str(word);
                rest = after.split_at(1).1;
                used = true;
            } else {
                filled.push('$');
            }
        }
        filled.push_str(rest);
        if !used && !args.is_empty() {
            filled = format!("{filled}\n\n{}", args.join(" "));
        }
        Ok((filled, used_stdin))
    }
}

/// Returns the number of `$1` to `$9`, without the `$`; `None` for `$10`.
fn placeholder(after: &str) -> Option<usize> {
    let mut digits = after.chars().take_while(char::is_ascii_digit);
    let first = digits.next().and_then(|digit| digit.to_digit(10)).filter(|&number| number > 0)?;
    digits.next().is_none().then_some(first as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str) -> PromptTemplate {
        PromptTemplate::parse(Path::new("x.md"), text.as_bytes()).unwrap()
    }

    #[test]
    fn a_first_line_may_name_the_model() {
        for (text, model, rest) in [
            ("Review this.\n", None, "Review this."),
            ("model: qwen\nReview this.\n", Some("qwen"), "Review this."),
            ("model:claude\n\nReview\n\nthis.", Some("claude"), "Review\n\nthis."),
            ("model:\nx", None, "model:\nx"),
            ("x\nmodel: y", None, "x\nmodel: y"),
            ("", None, ""),
        ] {
            let read = prompt(text);
            assert_eq!((read.model.as_deref(), read.text.as_str()), (model, rest), "{text:?}");
        }
    }

    #[test]
    fn words_are_put_in_their_places() {
        let args: Vec<String> = ["a", "$2", "c d"].map(String::from).into();
        for (text, expected) in [
            ("1: $1, 2: $2, all: $*", "1: a, 2: $2, all: a $2 c d"),
            ("in:\n$stdin\n$1", "in:\nINPUT\na"),
            ("no place", "no place\n\na $2 c d"),
            ("costs $100 and $x and $ $1", "costs $100 and $x and $ a"),
            ("$0 $1", "$0 a"),
            ("$3.", "c d."),
        ] {
            let filling = TemplateValues { args: &args, stdin: Some("INPUT") };
            assert_eq!(prompt(text).fill("p", filling).unwrap().0, expected, "{text}");
        }
        let error = prompt("$2").fill("p", TemplateValues { args: &args[..1], stdin: None }).unwrap_err();
        assert_eq!(error.message, "prompt p needs an argument for $2, but got 1");
        let alone = prompt("hi").fill("p", TemplateValues { args: &[], stdin: None }).unwrap();
        assert_eq!(alone, ("hi".to_string(), false));
    }

    #[test]
    fn names_are_parts_of_paths() {
        for (name, ok) in [
            ("review", true),
            ("리뷰-2.x", true),
            ("", false),
            ("../x", false),
            (".x", false),
            ("a b", false),
            ("-x", false),
        ] {
            assert_eq!(check_prompt_name(name).is_ok(), ok, "{name}");
        }
    }
}
