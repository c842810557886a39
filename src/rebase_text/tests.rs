//! Tables of edits and a property: what was printed is read as it was.

use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, ContentHash};

use super::*;

struct Messages(Vec<(BubbId, Role, bool, Vec<u8>, bool)>);

impl Messages {
    /// Messages as `user text`, `hidden system text`; `-` before one prints only its mark line.
    fn new(messages: &[&str]) -> Messages {
        let mut all = Vec::new();
        let mut prev = None;
        for (at, message) in messages.iter().enumerate() {
            let (line_only, message) = match message.strip_prefix('-') {
                Some(rest) => (true, rest),
                None => (false, *message),
            };
            let (hidden, message) = match message.strip_prefix("hidden ") {
                Some(rest) => (true, rest),
                None => (false, message),
            };
            let (word, text) = message.split_once(' ').unwrap();
            let role = Role::ALL.into_iter().find(|other| other.as_str() == word).unwrap();
            all.push(Messages::message(at, role, hidden, text.as_bytes().to_vec(), line_only, &mut prev));
        }
        Messages(all)
    }

    fn message(
        at: usize,
        role: Role,
        hidden: bool,
        text: Vec<u8>,
        line_only: bool,
        prev: &mut Option<BubbId>,
    ) -> (BubbId, Role, bool, Vec<u8>, bool) {
        let time = 1_760_000_000_000 + at as u64;
        let id = BubbId::new(time, role, hidden, *prev, &ContentHash::from_content(&text));
        *prev = Some(id);
        (id, role, hidden, text, line_only)
    }

    fn range(&self) -> TextRange {
        let last = self.0.last().unwrap().0;
        TextRange { after: None, last, base: RangeBase::Own, all: false }
    }

    fn print(&self) -> Vec<u8> {
        let messages: Vec<PrintedMessage> = (0..self.0.len()).map(|at| self.printed(at).unwrap()).collect();
        print(&self.range(), &messages)
    }

    fn short(&self, at: usize) -> String {
        self.0[at].0.to_string().split_off(18)
    }

    /// The text with each id written as its place: `%% user 0`.
    fn numbered(&self) -> String {
        let mut text = String::from_utf8(self.print()).unwrap();
        for at in 0..self.0.len() {
            text = text.replace(&self.short(at), &format!("<{at}>"));
        }
        text.split_inclusive('\n').filter(|line| !line.trim_start_matches('%').starts_with('#')).collect()
    }

    /// Reads a text whose ids are written as places, and writes what it means: `0`, `1=other text`, `+user text`.
    fn meaning(&self, text: &str) -> String {
        let mut text = text.to_string();
        for at in 0..self.0.len() {
            text = text.replace(&format!("<{at}>"), &self.short(at));
        }
        let edited = match parse(text.as_bytes()).and_then(|parsed| compare(parsed, self)) {
            Ok(edited) => edited,
            Err(error) => return error.message,
        };
        let one = |edited: &EditedMessage| {
            let text = edited.text.as_ref().map(|text| String::from_utf8_lossy(text).into_owned());
            match (edited.original, text) {
                (Some(at), None) => at.to_string(),
                (Some(at), Some(text)) => format!("{at}={text}"),
                (None, text) => {
                    let hidden = if edited.hidden { "hidden " } else { "" };
                    format!("+{hidden}{} {}", edited.role.as_str(), text.unwrap_or_default())
                }
            }
        };
        edited.iter().map(one).collect::<Vec<_>>().join("|")
    }
}

impl MessageSource for Messages {
    fn marks(&self) -> Vec<(BubbId, Role, bool)> {
        self.0.iter().map(|(id, role, hidden, ..)| (*id, *role, *hidden)).collect()
    }

    fn printed(&self, index: usize) -> Result<PrintedMessage> {
        let (_, role, hidden, text, line_only) = self.0[index].clone();
        let note = line_only.then(|| format!("{} bytes", text.len()));
        let text = Some(text).filter(|_| !line_only);
        Ok(PrintedMessage { id: self.short(index), role, hidden, note, text })
    }

    fn bytes(&self, index: usize) -> Result<Vec<u8>> {
        Ok(self.0[index].3.clone())
    }
}

#[test]
fn messages_are_printed_with_marks() {
    let messages =
        Messages::new(&["-hidden system Be brief.", "user 왜?", "assistant so\n", "user and\n\nnow"]);
    let printed = messages.print();
    let first = String::from_utf8(printed).unwrap().lines().next().unwrap().to_string();
    assert_eq!(first, format!("%%# lepo rebase {}", messages.0[3].0));
    assert_eq!(
        messages.numbered(),
        "%% hidden system <0> (9 bytes)\n%% user <1>\n왜?\n%% assistant <2>\nso\n\n%% user <3>\nand\n\nnow\n"
    );
    assert_eq!(
        Messages::new(&["user %% user", "assistant x"]).numbered(),
        "%%% user <0>\n%% user\n%%% assistant <1>\nx\n"
    );
}

/// Texts for `system a` (its line), `user b`, `assistant c`, `user d` with a newline at its end, and what they mean.
const EDITS: &[(&str, &str)] = &[
    ("%% hidden system <0>\n%% user <1>\nb\n%% assistant <2>\nc\n%% user <3>\nd\n\n", "0|1|2|3"),
    // Order, cuts, copies.
    ("%% user <3>\nd\n\n%% assistant <2>\nc\n%% user <1>\nb\n%% hidden system <0>\n", "3|2|1|0"),
    ("%% user <1>\nb\n", "1"),
    ("%% user <1>\nb\n%% user <1>\nb\n", "1|1"),
    ("%% user <1>\nb\n%% user <1>\nx\n", "1|1=x"),
    // Other words.
    ("%% user <1>\n왜 그래?\n%% assistant <2>\nc\n", "1=왜 그래?|2"),
    ("%% user <1>\nb\nand more\n", "1=b\nand more"),
    ("%% user <1>\n b\n", "1= b"),
    ("%% user <1>\nb \n", "1=b "),
    ("%% user <1>\nb\t\n", "1=b\t"),
    ("%% user <1>\n\nb\n", "1=\nb"),
    ("%% user <1>\nB\r\n", "1=B\r"),
    // Blank lines before a mark belong to the text; the last newline that an editor adds does not.
    ("%% user <1>\nb\n\n%% assistant <2>\nc\n", "1|2"),
    ("%% user <1>\nb\n\n\n%% assistant <2>\nc\n", "1=b\n|2"),
    ("%% user <1>\nx\n\n", "1=x"),
    ("%% user <3>\nd\n\n", "3"),
    ("%% user <3>\nd\n", "3=d"),
    ("%% user <3>\nx\n\n", "3=x\n"),
    ("%% user <1>\nb", "1"),
    ("%% user <1>\nx", "1=x"),
    // New messages end without a newline.
    ("%% user\nnew\n", "+user new"),
    ("%% user\nnew\n\n\n%% assistant <2>\nc\n", "+user new|2"),
    ("%% user\n\nnew\n", "+user \nnew"),
    (
        "%% assistant\n새 답\n%% system\ns\n%% hidden system\nh\n",
        "+assistant 새 답|+system s|+hidden system h",
    ),
    ("%% hidden user\nx\n%% hidden assistant\ny\n", "+hidden user x|+hidden assistant y"),
    // Split, and joined.
    ("%% assistant <2>\nc\n%% user\nwhy\n%% assistant\nbecause\n", "2|+user why|+assistant because"),
    ("%% user <1>\nb\nc\n%% user <3>\nd\n\n", "1=b\nc|3"),
    // A message of which only the mark line is printed.
    ("%% hidden system <0> (whatever (it) is)\n", "0"),
    ("%% hidden system <0>\n\n\n", "0"),
    ("%% hidden system <0>\na\n", "0"),
    ("%% hidden system <0>\na\n\n", "0"),
    ("%% hidden system <0>\nother\n", "0=other"),
    // Comments anywhere.
    ("%%# c\n%% user <1>\n%%# in the middle\nb\n%%#\n%%# %% user\n%% assistant <2>\nc\n", "1|2"),
    ("\n%% user <1>\nb\n", "line 1: the text does not begin with a mark"),
    ("%%#\n\n%% user <1>\nb\n", "1"),
    // Longer marks.
    ("%%% user <1>\n%% b\n%%# c\n", "1=%% b\n%%# c"),
    ("%%%%# c\n%%%% user <1>\n%%% x\n", "1=%%% x"),
    ("%% user <1>\n% b\n", "1=% b"),
    ("%% user <1>\nb %% user\n", "1=b %% user"),
    // Line ends and a BOM of editors.
    ("%% user <1>\r\nb\r\n%% user <3>\r\nd\r\n\r\n", "1|3"),
    ("%% user <1>\r\nx\r\ny\r\n", "1=x\ny"),
    ("%% user <1>\r\nx\r\ny\n", "1=x\r\ny"),
    ("\u{feff}%% user <1>\nb\n", "1"),
    ("\u{feff}%%# c\r\n%% user <1>\r\nb\r\n", "1"),
    ("%% user <1>\n\u{feff}b\n", "1=\u{feff}b"),
    // Nothing is left.
    ("", ""),
    ("\n", ""),
    (" \r\n\t\n", ""),
    ("%%# only a comment\n", ""),
    ("\u{feff}", ""),
    // Refused.
    ("b\n", "line 1: the text does not begin with a mark"),
    ("% user <1>\nb\n", "line 1: the text does not begin with a mark"),
    ("%%# c\nb\n%% user <1>\nb\n", "line 2: text above the first mark"),
    ("%% user <1>\n%% assistant <2>\nc\n", "line 1: the message has no text any more"),
    ("%% user <1>\n\n%% assistant <2>\nc\n", "line 1: the message has no text any more"),
    ("%%# c\n%% user <3>\n", "line 2: the message has no text any more"),
    ("%% user\n%% assistant <2>\nc\n", "line 1: the new message has no text"),
    ("%% user <1>\nb\n%% user\n\n\n", "line 3: the new message has no text"),
    ("%% tool\nx\n", "line 1: a new message cannot have the kind tool"),
    ("%% assistant <1>\nb\n", "line 1: <1> is the id of a message of user"),
    ("%% hidden user <1>\nb\n", "line 1: <1> is the id of a message of user"),
    ("%% system <0>\n", "line 1: <0> is the id of a message of hidden system"),
    ("%% user 00000000\nb\n", "line 1: no message 00000000 is in this range"),
    ("%% user ID\nb\n", "line 1: no message ID is in this range"),
    ("%% user <1>\nb\n%% robot\nx\n", "line 3: unknown speaker robot"),
    ("%% user <1>\nb\n%%\nx\n", "line 3: the mark names no speaker"),
    ("%% user <1>\nb\n%%% user\nx\n", "line 3: no blank after the mark, before '% user'"),
    ("%% user <1>\nb\n%%user\nx\n", "line 3: no blank after the mark, before user"),
];

#[test]
fn an_edit_means_what_the_table_says() {
    let messages = Messages::new(&["-hidden system a", "user b", "assistant c", "user d\n"]);
    for (text, expected) in EDITS {
        let mut expected = expected.to_string();
        for at in 0..4 {
            expected = expected.replace(&format!("<{at}>"), &messages.short(at));
        }
        assert_eq!(messages.meaning(text), expected, "{text:?}");
    }
}

#[test]
fn ids_are_read_whole_and_in_any_case() {
    let messages = Messages::new(&["user b", "assistant c"]);
    let whole = messages.0[1].0.to_string();
    for id in [whole.clone(), whole.to_ascii_lowercase(), messages.short(1).to_ascii_lowercase()] {
        assert_eq!(messages.meaning(&format!("%% assistant {id} \t\nc\n")), "1", "{id}");
    }
    let longer = whole.clone().split_off(17);
    assert_eq!(
        messages.meaning(&format!("%% assistant {longer}\nc\n")),
        format!("line 1: no message {longer} is in this range")
    );
}

#[test]
fn a_text_in_utf_16_is_named() {
    let error = parse(b"\xff\xfe%\0%\0").unwrap_err();
    assert!(error.hint_for(lepo_base::hint::HintTarget::SHELL).unwrap().contains("UTF-16"));
}

/// Pieces of which random texts are made.
const PIECES: &[&str] = &[
    "%",
    "%%",
    "%%%",
    "%%# ",
    "%% user",
    "%% hidden system",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "word",
    "한글",
    "# user",
    "---",
    "\u{feff}",
    "\u{2028}",
    "```\n",
    "\u{1b}[31m",
    "(1 byte)",
    "👩‍👩‍👧",
];

#[test]
fn a_thousand_random_conversations_are_read_as_they_were_printed() {
    let mut seed = 0x2545_F491_4F6C_DD1Du64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    for round in 0..1000 {
        let mut prev = None;
        let mut all = Vec::new();
        for at in 0..1 + random(12) {
            let text: String = (0..random(9)).map(|_| PIECES[random(PIECES.len())]).collect();
            let (role, hidden) = (Role::ALL[random(4)], random(4) == 0);
            let line_only = hidden && random(2) == 0;
            all.push(Messages::message(at, role, hidden, text.into_bytes(), line_only, &mut prev));
        }
        let messages = Messages(all);
        let text = messages.print();
        let unchanged: Vec<Option<usize>> = (0..messages.0.len()).map(Some).collect();
        // As it is, and as editors save it: with a BOM, without the last newline, with one more, with CRLF.
        let with_bom = [b"\xef\xbb\xbf", text.as_slice()].concat();
        let longer = [text.as_slice(), b"\n"].concat();
        let is_crlf_safe = messages.0.iter().all(|message| !message.3.contains(&b'\r'));
        let crlf = String::from_utf8(text.clone()).unwrap().replace('\n', "\r\n").into_bytes();
        let ends_plain = messages.0.last().is_some_and(|last| !last.3.ends_with(b"\n"));
        let mut saved = vec![text.clone(), with_bom];
        saved.extend(is_crlf_safe.then_some(crlf));
        saved.extend(ends_plain.then_some(longer));
        saved.extend(ends_plain.then(|| text[..text.len() - 1].to_vec()));
        for text in saved {
            let parsed = parse(&text).unwrap();
            assert_eq!(parsed.range, Some(messages.range()), "{round}");
            let edited = compare(parsed, &messages).unwrap();
            let originals: Vec<Option<usize>> = edited.iter().map(|edited| edited.original).collect();
            assert_eq!(originals, unchanged, "{round}");
            assert!(edited.iter().all(|edited| edited.text.is_none()), "{round}: {edited:?}");
        }
    }
}
