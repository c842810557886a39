//! Parses the keywords in replies that control a debate: REQUEST, PASS, `SELECT: NAME`, `END: SUMMARY`. They
//! count at the start of a line, in upper or lower case, and inside of Markdown's emphasis too.

use lepo_store::bubb::BubbId;

/// Prefix of the hidden bubb before a verdict.
pub const JUDGE: &str = "JUDGE: ";

/// A participant's reply to the question whether it wants to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bid {
    /// The participant wants to speak.
    Request,
    /// The participant does not want to speak.
    Pass,
}

impl Bid {
    /// Returns the keyword.
    pub fn as_str(self) -> &'static str {
        match self {
            Bid::Request => "REQUEST",
            Bid::Pass => "PASS",
        }
    }

    /// Returns the first keyword at the start of a line.
    pub fn read(reply: &str) -> Option<Bid> {
        reply.lines().find_map(|line| {
            let start = line.trim_start_matches(is_mark);
            let word = start.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            [Bid::Request, Bid::Pass].into_iter().find(|bid| bid.as_str().eq_ignore_ascii_case(word))
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrchestratorDecision {
    /// The participant at this index speaks next.
    Select(usize),
    /// The debate is over, with this conclusion, which may be empty.
    End(String),
}

/// Returns the first valid decision of a reply (a name from `names`, or a conclusion), and the text before
/// it.
pub fn decision(reply: &str, names: &[&str]) -> Option<(String, OrchestratorDecision)> {
    let (mut words, mut rest) = (String::new(), reply);
    while !rest.is_empty() {
        let (transcript, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let selected = text_after(transcript, "SELECT")
            .and_then(|name| find_name(name, names))
            .map(OrchestratorDecision::Select);
        let end = || {
            let conclusion = format!("{}\n{after}", text_after(transcript, "END")?);
            let conclusion = conclusion.trim();
            // A bare name is not a conclusion.
            let ends = conclusion.is_empty() || without_decisions(conclusion).is_some();
            ends.then(|| OrchestratorDecision::End(conclusion.to_string()))
        };
        if let Some(decision) = selected.or_else(end) {
            return Some((words.trim().to_string(), decision));
        }
        words.push_str(transcript);
        words.push('\n');
        rest = after;
    }
    None
}

/// Removes lines that select a speaker, and bare END lines, which conclude nothing; `None` if no other text
/// remains.
pub fn without_decisions(text: &str) -> Option<String> {
    let decides = |line: &&str| text_after(line, "SELECT").is_some() || text_after(line, "END") == Some("");
    let lines: Vec<&str> = text.lines().filter(|line| !decides(line)).collect();
    Some(lines.join("\n").trim().to_string()).filter(|text| !text.is_empty())
}

/// Returns the text of the bubb that names the next speaker.
pub fn select_line(name: &str) -> String {
    format!("SELECT: {name}")
}

/// Parses the name in such a bubb.
pub fn selected(text: &str) -> Option<&str> {
    text.strip_prefix("SELECT: ").filter(|name| !name.contains('\n'))
}

/// Returns the text after a keyword and its colon at the start of a line.
fn text_after<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    let start = line.trim_start_matches(is_mark);
    let (head, tail) = start.split_at_checked(word.len())?;
    if !head.eq_ignore_ascii_case(word) {
        return None;
    }
    let value = tail.trim_start_matches(is_mark).strip_prefix([':', '：'])?;
    // The end of the emphasis in `**END:** …`.
    let emphasised = line.trim_start().starts_with(EMPHASIS);
    Some(if emphasised { value.trim_start_matches(EMPHASIS) } else { value }.trim())
}

/// Finds the name at the start of a text: alone, or followed by a character that names do not contain.
fn find_name(text: &str, names: &[&str]) -> Option<usize> {
    let bare = text.trim_matches(|c: char| is_mark(c) || "\"'“”‘’[](){}<>.,!".contains(c)).to_lowercase();
    let alone = |name: &str| [text, bare.as_str()].contains(&name) || name.to_lowercase() == bare;
    let before = |name: &str| {
        let after = bare.strip_prefix(&name.to_lowercase());
        after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || "-_.:".contains(c)))
    };
    let exact = names.iter().position(|&name| name == text);
    let exact = exact.or_else(|| names.iter().position(|name| alone(name)));
    exact.or_else(|| names.iter().position(|name| before(name)))
}

const EMPHASIS: [char; 3] = ['*', '_', '`'];

/// Skips white space and Markdown's marks before a keyword at the start of a line.
fn is_mark(c: char) -> bool {
    c.is_whitespace() || EMPHASIS.contains(&c) || matches!(c, '#' | '>' | '-')
}

/// Parses the name of the judge in such a bubb, and the answers that it received.
pub fn judged_by(text: &str) -> Option<(&str, Vec<BubbId>)> {
    let mut lines = text.strip_prefix(JUDGE)?.lines();
    let name = lines.next()?;
    let answer = |line: &str| BubbId::parse(line.split_once(": ")?.1.as_bytes());
    Some((name, lines.map(answer).collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_the_first_word_of_a_line() {
        for (reply, bid) in [
            ("REQUEST", Some(Bid::Request)),
            ("PASS", Some(Bid::Pass)),
            ("pass - not now", Some(Bid::Pass)),
            ("Well.\n  **Request.**", Some(Bid::Request)),
            ("- REQUEST - 할 말이 있음", Some(Bid::Request)),
            ("PASS\nREQUEST", Some(Bid::Pass)),
            ("I REQUEST the floor", None),
            ("REQUESTED", None),
            ("PASSING", None),
            ("패스", None),
            ("", None),
        ] {
            assert_eq!(Bid::read(reply), bid, "{reply:?}");
        }
    }

    #[test]
    fn a_decision_is_at_the_start_of_a_line() {
        let names = ["claude", "gemini", "qwen:3b", "대화", "gemini-pro"];
        let select = |i| Some(OrchestratorDecision::Select(i));
        let end = |text: &str| Some(OrchestratorDecision::End(text.into()));
        for (reply, words, expected) in [
            ("SELECT: claude", "", select(0)),
            ("주제상 먼저.\n\nselect: GEMINI", "주제상 먼저.", select(1)),
            ("**SELECT:** gemini", "", select(1)),
            ("**SELECT**: **gemini**", "", select(1)),
            ("SELECT: [gemini].", "", select(1)),
            ("SELECT: gemini, who has not spoken", "", select(1)),
            ("SELECT: gemini (요청함)", "", select(1)),
            ("SELECT: gemini-pro", "", select(4)),
            ("SELECT: qwen:3b", "", select(2)),
            ("SELECT： 대화", "", select(3)),
            ("SELECT : claude", "", select(0)),
            // an unknown name, an empty text, not at the start
            ("SELECT: bard", "", None),
            ("SELECT: claudette", "", None),
            ("SELECT:", "", None),
            ("I would SELECT: claude", "", None),
            ("SELECTED: claude", "", None),
            ("", "", None),
            ("END:", "", end("")),
            ("All agree.\n**END:**\n", "All agree.", end("")),
            ("THE END: x", "", None),
            // a name that is good after one that is not
            ("SELECT: bard\nSELECT: claude", "SELECT: bard", select(0)),
            ("END: 모듈러 모놀리스", "", end("모듈러 모놀리스")),
            ("All agree.\nEnd: yes\n- cheap\n- SELECT: no", "All agree.", end("yes\n- cheap\n- SELECT: no")),
            ("END:\n\nyes", "", end("yes")),
            ("END: SELECT: bard", "", None),
            ("END:\nSELECT: bard\n", "", None),
            ("**END:** yes", "", end("yes")),
            ("END: **yes** and no", "", end("**yes** and no")),
            ("SELECT: claude\nEND: x", "", select(0)),
        ] {
            let found = decision(reply, &names);
            let words = Some(words.to_string()).filter(|_| expected.is_some());
            assert_eq!(found.clone().map(|(words, _)| words), words, "{reply:?}");
            assert_eq!(found.map(|(_, decision)| decision), expected, "{reply:?}");
        }
    }

    #[test]
    fn whose_turn_it_is_reads_back() {
        assert_eq!(selected(&select_line("ollama:qwen3:8b")), Some("ollama:qwen3:8b"));
        for other in ["select: a", "SELECT: a\nb", "x\nSELECT: a", "END: a"] {
            assert_eq!(selected(other), None, "{other}");
        }
    }

    #[test]
    fn a_judge_is_named_with_what_it_was_shown() {
        let (a, b) = ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5A", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5B");
        let id = |text: &str| BubbId::parse(text.as_bytes()).unwrap();
        let text = format!("JUDGE: gpt: mini\nA: {b}\nB: {a}");
        assert_eq!(judged_by(&text), Some(("gpt: mini", vec![id(b), id(a)])));
        for text in ["JUDGE: x\nA: none", "SELECT: x", "JUDGE:"] {
            assert_eq!(judged_by(text), None, "{text}");
        }
    }
}
