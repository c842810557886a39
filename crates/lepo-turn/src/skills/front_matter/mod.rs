//! Parses the front matter of a `SKILL.md`: the flat subset of YAML that skills use, without a YAML library.
//! Input that strict parsers reject is reported as a fault, but is parsed as far as its meaning is clear.

use super::lines::{FrontMatterLine, FrontMatterLines};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A scalar of any type, as text.
    Text(String),
    /// A map of scalars.
    Map(Vec<(String, String)>),
    /// A list of scalars.
    List(Vec<String>),
}

/// A front matter, and the text after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter<'t> {
    /// The fields in order; the first of duplicates counts.
    pub fields: Vec<(String, FieldValue)>,
    /// Faults for which a strict parser rejects it.
    pub faults: Vec<String>,
    /// The text after the front matter.
    pub body: &'t str,
    /// Lines of the front matter.
    head: &'t str,
}

impl<'t> FrontMatter<'t> {
    /// Parses a file. The error says why it has no front matter.
    pub fn read(text: &'t str) -> Result<FrontMatter<'t>, &'static str> {
        let mut found = FrontMatter::default();
        let text = match text.strip_prefix('\u{feff}') {
            Some(text) => {
                found.faults.push("there is a byte order mark before the front matter".to_string());
                text
            }
            None => text,
        };
        let (first, rest) = text.split_once('\n').ok_or("it does not begin with front matter (---)")?;
        if first.trim_end() != "---" {
            return Err("it does not begin with front matter (---)");
        }
        let mut end = None;
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim_end() == "---" {
                end = Some((at, at + line.len()));
                break;
            }
            at += line.len();
        }
        let (end, body) = end.ok_or("its front matter is not closed (---)")?;
        found.body = rest.get(body..).unwrap_or_default().trim();
        let head = rest.get(..end).unwrap_or_default();
        found.head = head;
        if head.contains("---") {
            found.faults.push("--- occurs within the front matter, where some readers end it".to_string());
        }
        found.read_fields(&mut FrontMatterLines::new(head));
        if found.fields.is_empty() && found.faults.is_empty() {
            return Err("its front matter is empty");
        }
        Ok(found)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.field(name)? {
            FieldValue::Text(text) => Some(text.trim()),
            FieldValue::Map(_) | FieldValue::List(_) => None,
        }
    }

    /// Returns the text of a field in any form, including following lines that are a map or a list to a
    /// strict parser, or that are not indented.
    pub fn words(&self, name: &str) -> Option<String> {
        if let Some(text) = self.text(name).filter(|text| !text.is_empty()) {
            return Some(text.to_string());
        }
        let is_it = |line: &&str| key_of(line).is_some_and(|(key, _)| key == name);
        let is_comment = |line: &str| line.trim_start().starts_with('#');
        let is_field = |line: &str| !line.starts_with([' ', '\t']) && key_of(line).is_some();
        let below = self.head.lines().skip_while(|line| !is_it(line)).skip(1);
        let words: Vec<&str> = below
            .take_while(|line| !is_field(line) && line.trim_end() != "...")
            .filter(|line| !is_comment(line))
            .map(|line| line.trim().trim_start_matches("- ").trim_matches('"'))
            .filter(|line| !line.is_empty())
            .collect();
        Some(words.join(" ")).filter(|words| !words.is_empty())
    }

    pub fn field(&self, name: &str) -> Option<&FieldValue> {
        self.fields.iter().find(|(named, _)| named == name).map(|(_, value)| value)
    }

    fn fault(&mut self, line: FrontMatterLine<'_>, what: &str) {
        self.faults.push(format!("line {}: {what}", line.number));
    }

    fn read_fields(&mut self, lines: &mut FrontMatterLines<'t>) {
        while let Some(line) = lines.next() {
            if line.is_empty() {
                continue;
            }
            if line.text == "..." {
                break;
            }
            if line.is_outdented {
                self.fault(line, "it is indented less than the first field");
            }
            if line.indent > 0 || line.text.starts_with('\t') {
                self.fault(line, "it is indented, and belongs to no field");
                continue;
            }
            let Some((key, rest)) = key_of(line.text) else {
                self.fault(line, "it is not a field (NAME: VALUE)");
                continue;
            };
            let value = self.value(line, rest, lines);
            if self.field(&key).is_some() {
                self.fault(line, &format!("{key:?} appears twice"));
            } else {
                self.fields.push((key, value));
            }
        }
    }

    /// Parses the value after a field's name, with the lines that belong to it.
    fn value(
        &mut self,
        line: FrontMatterLine<'t>,
        rest: &'t str,
        lines: &mut FrontMatterLines<'t>,
    ) -> FieldValue {
        match rest.chars().next() {
            Some('|' | '>') => FieldValue::Text(self.block(line, rest, lines)),
            Some('#') | None => self.nested(lines),
            Some(_) => FieldValue::Text(self.scalar(line, rest, lines, 0)),
        }
    }

    /// Parses the value below a field's name: a map, a list, or a scalar that starts on its own line.
    fn nested(&mut self, lines: &mut FrontMatterLines<'t>) -> FieldValue {
        let Some(first) = lines.ahead() else { return FieldValue::Text(String::new()) };
        let is_item = |line: &FrontMatterLine<'_>| line.text == "-" || line.text.starts_with("- ");
        if is_item(&first) {
            let mut items = Vec::new();
            while let Some(line) = lines.next_if(|line| line.is_empty() || is_item(line)) {
                if !line.is_empty() {
                    let item = line.text.trim_start_matches('-').trim_start();
                    items.push(self.scalar(line, item, lines, line.indent));
                }
            }
            return FieldValue::List(items);
        }
        if first.indent == 0 {
            return FieldValue::Text(String::new());
        }
        if key_of(first.text).is_none() {
            while lines.next_if(FrontMatterLine::is_empty).is_some() {}
            let Some(line) = lines.next() else { return FieldValue::Text(String::new()) };
            return FieldValue::Text(self.scalar(line, line.text, lines, 0));
        }
        let mut map: Vec<(String, String)> = Vec::new();
        while let Some(line) = lines.next_if(|line| line.is_empty() || line.indent > 0) {
            if line.is_empty() {
                continue;
            }
            match key_of(line.text) {
                Some((key, rest)) => {
                    let text = match rest.chars().next() {
                        Some('|' | '>') => self.block(line, rest, lines),
                        // Deeper nesting is not supported.
                        None => {
                            while lines
                                .next_if(|below| below.indent > line.indent || below.is_empty())
                                .is_some()
                            {}
                            String::new()
                        }
                        _ => self.scalar(line, rest, lines, line.indent),
                    };
                    map.push((key, text));
                }
                None => self.fault(line, "it is not a field (NAME: VALUE)"),
            }
        }
        FieldValue::Map(map)
    }

    /// Parses a scalar that starts here, quoted or not, and continues in lines with an indent of more than
    /// `indent`.
    fn scalar(
        &mut self,
        line: FrontMatterLine<'t>,
        begun: &'t str,
        lines: &mut FrontMatterLines<'t>,
        indent: usize,
    ) -> String {
        let quote = begun.chars().next().filter(|first| matches!(first, '"' | '\''));
        let mut text = begun.to_string();
        match quote {
            Some(quote) => {
                // A quoted scalar ends at its closing quote, so all lines that may belong to it are joined
                // first.
                let mut starts = Vec::new();
                for next in lines.rest().take_while(|line| line.indent > indent || line.text.is_empty()) {
                    starts.push(text.len());
                    text.push(if next.text.is_empty() { '\n' } else { ' ' });
                    text.push_str(next.text);
                }
                let Some((value, after)) = unquoted(&text, quote) else {
                    self.fault(line, "the closing quote is missing");
                    return begun.trim_start_matches(quote).to_string();
                };
                let end = text.len() - after.len();
                if quote == '"' && has_unknown_escape(text.get(..end).unwrap_or_default()) {
                    self.fault(line, "a backslash does not begin a valid escape");
                }
                let used = starts.iter().take_while(|&&start| start < end).count();
                let after = match starts.get(used) {
                    Some(start) => text.get(end..*start).unwrap_or_default(),
                    None => after,
                };
                if !after.trim_start().is_empty() && !after.trim_start().starts_with('#') {
                    self.fault(line, "there is text after the closing quote");
                }
                lines.pass(used);
                value
            }
            None => {
                let is_sign =
                    matches!(begun, "-" | "?") || begun.starts_with("- ") || begun.starts_with("? ");
                if is_sign || begun.starts_with(['[', ']', '{', '}', ',', '&', '*', '!', '%', '@', '`']) {
                    self.fault(line, "a value begins with a character that YAML reserves: put it in quotes");
                }
                text = plain(&text).to_string();
                if is_colon_unquoted(&text) {
                    self.fault(line, "a value with a colon is not quoted");
                }
                while let Some(next) = lines.next_if(|line| line.indent > indent && !line.is_empty()) {
                    let more = plain(next.text);
                    if is_colon_unquoted(more) {
                        self.fault(next, "a value with a colon is not quoted");
                    }
                    text.push(' ');
                    text.push_str(more);
                }
                text.trim().to_string()
            }
        }
    }

    /// Parses a block scalar: `|` preserves its lines, `>` folds them.
    fn block(
        &mut self,
        line: FrontMatterLine<'t>,
        header: &'t str,
        lines: &mut FrontMatterLines<'t>,
    ) -> String {
        let folds = header.starts_with('>');
        let header = plain(header.trim_start_matches(['|', '>']));
        if !header.chars().all(|c| matches!(c, '+' | '-' | '1'..='9')) {
            self.fault(line, "there is text after the block indicator");
        }
        let mut indent =
            header.chars().find_map(|c| c.to_digit(10)).map(|digit| line.indent + digit as usize);
        let mut texts: Vec<(usize, &str)> = Vec::new();
        while let Some(next) = lines.next_if(|next| next.text.is_empty() || next.indent > line.indent) {
            let indent = *indent.get_or_insert(next.indent.max(line.indent + 1));
            texts.push((next.indent.saturating_sub(indent), next.text));
        }
        while texts.last().is_some_and(|(_, text)| text.is_empty()) {
            texts.pop();
        }
        let mut block = String::new();
        let mut joins = false;
        for (deeper, text) in texts {
            let keeps = !folds || deeper > 0 || text.is_empty();
            if !block.is_empty() {
                block.push(if joins && !keeps { ' ' } else { '\n' });
            }
            block.extend(std::iter::repeat_n(' ', deeper));
            block.push_str(text);
            joins = folds && deeper == 0 && !text.is_empty();
        }
        block
    }
}

/// Splits a line into the name of a field and the text after its colon.
fn key_of(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let (key, rest) = match quote {
        Some(quote) => {
            unquoted(text, quote).and_then(|(key, rest)| Some((key, rest.trim_start().strip_prefix(':')?)))?
        }
        None => text.split_once(':').map(|(key, rest)| (key.trim_end().to_string(), rest))?,
    };
    let ends = rest.is_empty() || rest.starts_with([' ', '\t']);
    (ends && !key.is_empty()).then_some((key, rest.trim()))
}

/// Returns the quoted text, and the text after it; `None` if the quote is not closed.
fn unquoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix(quote)?;
    let mut value = String::new();
    loop {
        let (before, after) = rest.split_at(rest.find([quote, '\\'])?);
        value.push_str(before);
        let mut after = after.chars();
        let sign = after.next()?;
        rest = after.as_str();
        if sign == '\\' && quote == '"' {
            rest = escaped(rest, &mut value)?;
        } else if sign == quote {
            // In single quotes, two single quotes are an escaped quote.
            match rest.strip_prefix('\'').filter(|_| quote == '\'') {
                Some(more) => {
                    value.push('\'');
                    rest = more;
                }
                None => return Some((value, rest)),
            }
        } else {
            value.push(sign);
        }
    }
}

/// Appends the character of an escape in double quotes; returns the text after it.
fn escaped<'t>(text: &'t str, value: &mut String) -> Option<&'t str> {
    let mut rest = text.chars();
    let sign = rest.next()?;
    let digits = match sign {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => {
            value.push(match sign {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'a' => '\u{7}',
                'b' => '\u{8}',
                'e' => '\u{1b}',
                'f' => '\u{c}',
                'v' => '\u{b}',
                'N' => '\u{85}',
                '_' => '\u{a0}',
                'L' => '\u{2028}',
                'P' => '\u{2029}',
                other => other,
            });
            return Some(rest.as_str());
        }
    };
    let (number, rest) = rest.as_str().split_at_checked(digits)?;
    value.push(u32::from_str_radix(number, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}'));
    Some(rest)
}

/// Whether a text contains an unknown escape.
fn has_unknown_escape(text: &str) -> bool {
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if sign == '\\' && !signs.next().is_some_and(|sign| " \"/\\0abefnrtvxuUN_LP".contains(sign)) {
            return true;
        }
    }
    false
}

/// Returns a plain scalar without the comment after it.
fn plain(text: &str) -> &str {
    let end = if text.starts_with('#') { Some(0) } else { text.find(" #") };
    text.get(..end.unwrap_or(text.len())).unwrap_or_default().trim()
}

/// Whether YAML parses this text as a field in the middle of a value.
fn is_colon_unquoted(text: &str) -> bool {
    text.contains(": ") || text.ends_with(':')
}

#[cfg(test)]
mod tests;
