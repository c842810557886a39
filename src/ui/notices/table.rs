//! The rows of notices: each makes the line for the user and the entry in the manual.

pub const MODELS: &str = "Models and answers";
pub const FILES: &str = "Files and the repository";
pub const SECRETS: &str = "Secrets";
pub const COMMANDS: &str = "Commands and agents";
pub const SERVERS: &str = "MCP servers";

/// A notice in the manual.
pub struct ManualNotice {
    pub subject: &'static str,
    /// The line of the notice, with names in capitals instead of values.
    pub line: String,
    /// The meaning for the reader.
    pub meaning: &'static str,
}

/// Makes `lines` and `explained` from rows:
///
/// ```text
/// PATTERN[, NAME = VALUE]... => LEVEL[(at)] "TEXT" [as "MANUAL"] [, SUBJECT: "MEANING"];
/// PATTERN => lines { LINES } [as "MANUAL"] [, SUBJECT: "MEANING"];
/// ```
///
/// The level is `plain`, `note` or `warning`. The text names values of the pattern and of the names after it:
/// `{model}` reads MODEL in the manual. `as` has another text for the manual, which is a note if the level is `lines`.
/// With `(at)`, commands in the text are as the user types them there. A notice without a subject explains itself, and
/// is not in the manual.
macro_rules! notices {
    ($type:ty, $target:ident; $($pattern:pat $(, $name:ident = $value:expr)* => $level:ident $(($at:ident))?
        $({ $lines:expr })? $($text:literal)? $(as $manual:literal)? $(, $subject:ident: $meaning:literal)?;)+) => {
        pub fn lines(notice: &$type, $target: HintTarget<'_>) -> Vec<StatusLine> {
            match notice {
                $($pattern => {
                    $(let $name = $value;)*
                    notices!(@lines $level $(($at))? $($text)? $({ $lines })?)
                })+
            }
        }

        pub fn explained() -> Vec<ManualNotice> {
            let rows = [$(notices!(@manual $level $($text)? $(as $manual)? $(, $subject: $meaning)?)),+];
            rows.into_iter().flatten().collect()
        }
    };
    (@lines lines { $lines:expr }) => { $lines };
    (@lines $level:ident $text:literal) => { vec![StatusLine::$level(format!($text))] };
    (@lines $level:ident ($at:ident) $text:literal) => {
        vec![StatusLine::$level(Hint::from(format!($text)).render($at))]
    };
    (@manual lines as $manual:literal, $subject:ident: $meaning:literal) => {
        notices!(@manual note $manual, $subject: $meaning)
    };
    (@manual $level:ident $text:literal as $manual:literal, $subject:ident: $meaning:literal) => {
        notices!(@manual $level $manual, $subject: $meaning)
    };
    (@manual $level:ident $text:literal, $subject:ident: $meaning:literal) => {
        Some(ManualNotice {
            subject: $subject,
            line: StatusLine::$level(name_values($text)).to_string(),
            meaning: $meaning,
        })
    };
    (@manual $level:ident $($text:literal)?) => { None };
}

pub(super) use notices;

/// Replaces each `{name}` of a format string by the name in capitals.
pub fn name_values(format: &str) -> String {
    let mut text = String::new();
    for part in format.split_inclusive('}') {
        match part.strip_suffix('}').and_then(|part| part.split_once('{')) {
            Some((before, value)) => {
                text.push_str(before);
                let name = value.split_once(':').map_or(value, |(name, _)| name);
                text.extend(name.chars().map(|c| if c == '_' { ' ' } else { c.to_ascii_uppercase() }));
            }
            None => text.push_str(part),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_names_in_capitals() {
        for (format, text) in [
            ("{model} answers: {other_model}.", "MODEL answers: OTHER MODEL."),
            ("no value", "no value"),
            ("{name}", "NAME"),
            ("server {name:?}: {reason}", "server NAME: REASON"),
        ] {
            assert_eq!(name_values(format), text);
        }
    }
}
