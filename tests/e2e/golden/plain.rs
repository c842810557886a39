//! A recording without what differs between two runs: ids, times, ports, paths of the machine.

/// Replacements of one run, for any text of it.
pub struct Plain {
    /// Texts and what stands for each, longest first.
    fixed: Vec<(String, String)>,
    /// Ids that were met, in order: each has a letter.
    ids: Vec<String>,
    /// Tags of masks that were met.
    masks: Vec<String>,
}

impl Plain {
    pub fn new(mut fixed: Vec<(String, String)>) -> Plain {
        fixed.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        Plain { fixed, ids: Vec::new(), masks: Vec::new() }
    }

    /// The letter of an id: a, b, …, z, aa, ab.
    pub fn letter(&mut self, id: &str) -> String {
        let at = self.ids.iter().position(|known| known == id).unwrap_or_else(|| {
            self.ids.push(id.to_string());
            self.ids.len() - 1
        });
        letters(at)
    }

    /// The text, with letters for ids.
    pub fn text(&mut self, text: &str) -> String {
        let mut text = text.to_string();
        for (from, to) in &self.fixed {
            text = text.replace(from, to);
        }
        let text = each_word(&text, |word, before, after| self.word(word, before, after));
        let text = self.without_mask_tags(&text);
        without_times(&text)
    }

    /// The text with one name for all ids, to be compared.
    pub fn nameless(&self, text: &str) -> String {
        let mut text = text.to_string();
        for (from, to) in &self.fixed {
            text = text.replace(from, to);
        }
        each_word(&text, |word, _, _| is_id(word).then(|| "ID".to_string()))
    }

    fn word(&mut self, word: &str, before: &str, after: &str) -> Option<String> {
        if is_id(word) {
            return Some(format!("<{}>", self.letter(word)));
        }
        // Parts of ids, as lists show them and users type them.
        let is_part = (6..26).contains(&word.len()) && word.chars().all(is_digit_of_id);
        if is_part && let Some(at) = self.ids.iter().position(|id| id.ends_with(word)) {
            return Some(format!("<..{}>", letters(at)));
        }
        if is_part && let Some(at) = self.ids.iter().position(|id| id.starts_with(word)) {
            return Some(format!("<{}..>", letters(at)));
        }
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        let is_timed =
            ["\"ms\":", "\"first_ms\":", "\"time\":", "\"time\": "].iter().any(|key| before.ends_with(key));
        if is_number && is_timed {
            return Some("N".into());
        }
        let is_keyed = ["\"proof\":\"", "\"was\":\""].iter().any(|key| before.ends_with(key));
        if is_keyed {
            return Some("KEYED".into());
        }
        // `0.3 s`, `12 ms`, by the part behind the point.
        let unit = after.strip_prefix(' ').unwrap_or_default();
        let is_unit = ["s", "ms"].iter().any(|name| {
            unit.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        });
        (is_number && is_unit).then(|| "N".into())
    }

    /// The tag of a mask hangs on a key of the home.
    fn without_mask_tags(&mut self, text: &str) -> String {
        let mut parts = text.split("[secret: ");
        let mut out = parts.next().unwrap_or_default().to_string();
        for part in parts {
            out += "[secret: ";
            match part.split_once(']') {
                Some((mask, rest)) if mask.contains(' ') => {
                    let (kind, tag) = mask.split_once(' ').unwrap();
                    let at = self.masks.iter().position(|known| known == tag).unwrap_or_else(|| {
                        self.masks.push(tag.to_string());
                        self.masks.len() - 1
                    });
                    out += &format!("{kind} #{}]{rest}", at + 1);
                }
                _ => out += part,
            }
        }
        out
    }
}

fn letters(at: usize) -> String {
    let last = char::from(b'a' + (at % 26) as u8);
    if at < 26 { last.to_string() } else { format!("{}{last}", letters(at / 26 - 1)) }
}

fn is_digit_of_id(c: char) -> bool {
    c.is_ascii_digit() || c.is_ascii_uppercase() && !"ILOU".contains(c)
}

fn is_id(word: &str) -> bool {
    word.len() == 26
        && word.starts_with(|c: char| ('0'..='7').contains(&c))
        && word.chars().all(is_digit_of_id)
}

/// Replaces words of ASCII letters and digits; `change` sees the text before and behind each.
fn each_word(text: &str, mut change: impl FnMut(&str, &str, &str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (before, from) = rest.split_at(start);
        out += before;
        let end = from.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        let at = text.len() - from.len();
        match change(word, &text[..at], after) {
            Some(new) => out += &new,
            None => out += word,
        }
        rest = after;
    }
    out + rest
}

/// The text with `DATE` for dates and the time of day behind them, and `N s` for `N.N s`.
fn without_times(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_inside = out.ends_with(|c: char| c.is_ascii_alphanumeric());
        if !is_inside && let Some(mut length) = fits(rest, "0000-00-00") {
            let day = ["T00:00:00.000Z", "T00:00:00Z", "T00:00:00", "T00:00", " 00:00:00", " 00:00"];
            length += day.iter().find_map(|form| fits(&rest[length..], form)).unwrap_or_default();
            out += "DATE";
            rest = &rest[length..];
            continue;
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    // Seconds of two runs beside each other.
    let parts: Vec<&str> = out.split(" → ").collect();
    let is_decimal = |word: &str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let mut compared = parts[0].to_string();
    for part in &parts[1..] {
        let before = compared.rsplit(' ').next().unwrap_or_default().to_string();
        let end = part.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(part.len());
        if is_decimal(&before) && is_decimal(&part[..end]) {
            compared.truncate(compared.len() - before.len());
            compared += &format!("N → N{}", &part[end..]);
        } else {
            compared += &format!(" → {part}");
        }
    }
    let out = compared;
    // The whole part of seconds, whose fraction is gone already.
    let mut text = String::new();
    for (at, part) in out.split(".N s").enumerate() {
        if at > 0 {
            text.truncate(text.trim_end_matches(|c: char| c.is_ascii_digit()).len());
            text += "N s";
        }
        text += part;
    }
    text
}

/// The length of what a text begins with, if that is of this form: `0` is a digit, all else itself.
fn fits(text: &str, form: &str) -> Option<usize> {
    let has = text.len() >= form.len()
        && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        });
    (has && text.is_char_boundary(form.len())).then_some(form.len())
}

#[test]
fn what_differs_between_runs_is_gone_and_all_else_stays() {
    let mut plain = Plain::new(vec![("/tmp/.tmpA".into(), "HOME".into())]);
    let (a, b) = ("01M8B8G8FM6DE1SH9FY44XB11V", "01M8B8G8FRCFT0R24B7HJBGA9J");
    for (text, expected) in [
        (format!("{b}-u0-{a}.md"), "<a>-u0-<b>.md"),
        ("at 4XB11V and 01M8B8G8FR, not 123456".into(), "at <..b> and <a..>, not 123456"),
        ("/tmp/.tmpA/work".into(), "HOME/work"),
        (
            r#"{"time":17,"ms":11,"first_ms":9,"input":12}"#.into(),
            r#"{"time":N,"ms":N,"first_ms":N,"input":12}"#,
        ),
        (
            r#""proof":"5162e991f0bbcf26","tools":"aeaf9a308c3a65df""#.into(),
            r#""proof":"KEYED","tools":"aeaf9a308c3a65df""#,
        ),
        ("2026-11-26T06:25:50Z, 2026-11-26 06:25, x2026-11-26".into(), "DATE, DATE, x2026-11-26"),
        ("12 + 34 tokens, 10.3 s, 5 ms, 3 steps".into(), "12 + 34 tokens, N s, N ms, 3 steps"),
        (
            "[secret: github-token 9f] [secret: key 8a] [secret: key 9f]".into(),
            "[secret: github-token #1] [secret: key #2] [secret: key #1]",
        ),
        ("46 → 46  0.1 → 10.0 1.5 → x".into(), "46 → 46  N → N 1.5 → x"),
        ("한글 — 안녕 2026-11-26".into(), "한글 — 안녕 DATE"),
    ] {
        assert_eq!(plain.text(&text), expected);
    }
    assert_eq!([0, 25, 26, 27, 52].map(letters), ["a", "z", "aa", "ab", "ba"]);
}
