//! Comments of source files, and idioms in them that the dictionary has better words for.

/// A turn of phrase.
pub enum Idiom {
    /// One of these rows of words, anywhere.
    Phrase(&'static [&'static str]),
    /// A sentence begins with these words.
    Start(&'static str),
    /// "that is" before a participle.
    Participle,
    /// "is no" before a noun.
    IsNo,
    /// A verb and "it", and nothing more.
    VerbIt,
}

use Idiom::{IsNo, Participle, Phrase, Start, VerbIt};

/// Idioms, each with its name and the highest number of comments that have it.
pub const IDIOMS: &[(&str, Idiom, usize)] = &[
    ("is none", Phrase(&["is none", "are none"]), 0),
    ("so many", Phrase(&["so many", "so much"]), 0),
    ("that there are", Phrase(&["that there are", "that there is"]), 0),
    ("is told", Phrase(&["is told", "are told"]), 0),
    ("tell of", Phrase(&["tell of", "tells of", "told of"]), 0),
    ("stands", Phrase(&["stand", "stands", "stood"]), 0),
    ("beside", Phrase(&["beside"]), 0),
    ("behind", Phrase(&["behind"]), 1),
    ("go on", Phrase(&["go on", "goes on", "went on", "going on"]), 0),
    ("take up", Phrase(&["take up", "takes up", "took up", "taken up"]), 0),
    ("passed over", Phrase(&["passed over", "passes over", "stepped over", "steps over"]), 0),
    ("a sentence that begins with Of", Start("of"), 0),
    ("a sentence that begins with What", Start("what"), 0),
    ("a sentence that begins with One", Start("one"), 1),
    ("a sentence that begins with It", Start("it"), 4),
    ("a sentence that begins with The same", Start("the same"), 0),
    ("none if", Phrase(&["none if", "nothing if"]), 2),
    ("as good as", Phrase(&["as good as", "but for"]), 0),
    ("anew", Phrase(&["anew"]), 0),
    ("to be had", Phrase(&["to be had", "to be known"]), 0),
    ("other words", Phrase(&["other words"]), 0),
    ("that is PARTICIPLE", Participle, 5),
    ("verb it", VerbIt, 0),
    ("come of", Phrase(&["come of", "comes of", "came of", "come to", "comes to", "came to"]), 0),
    ("is no X", IsNo, 9),
    ("by itself", Phrase(&["by itself", "by themselves"]), 0),
    ("that of", Phrase(&["that of", "those of", "those that"]), 22),
    ("in a row", Phrase(&["in a row"]), 0),
    ("nothing of", Phrase(&["nothing of"]), 0),
    ("is there", Phrase(&["is there", "are there"]), 0),
    ("begins to", Phrase(&["begins to", "begin to"]), 0),
    ("gives", Phrase(&["gives", "give"]), 6),
    ("a sentence that begins with Takes", Start("takes"), 0),
    ("keep", Phrase(&["keep", "keeps", "kept"]), 17),
    ("held", Phrase(&["hold", "holds", "held"]), 3),
    ("place", Phrase(&["place", "places"]), 2),
    ("words", Phrase(&["words"]), 17),
    ("person", Phrase(&["person"]), 0),
    ("meanwhile", Phrase(&["meanwhile"]), 0),
    ("as it is", Phrase(&["as it is", "as they are"]), 1),
    ("is left", Phrase(&["is left", "are left"]), 3),
    ("the one that", Phrase(&["the one that", "the ones that"]), 0),
];

/// Participles without `ed`.
const IRREGULAR: &str = "told shown kept held given made written read found sent said taken known seen begun bound built \
    cut done drawn gone hidden left lost put run set spent stood thrown";

/// A word of a comment, in lower case, and whether a sentence begins with it.
type Word = (String, bool);

impl Idiom {
    /// True if a comment has it.
    pub fn is_in(&self, comment: &[Word]) -> bool {
        let has = |words: &[&str]| {
            comment.windows(words.len()).any(|row| row.iter().map(|(word, _)| word).eq(words.iter()))
        };
        match self {
            Phrase(phrases) => phrases.iter().any(|phrase| has(&phrase.split(' ').collect::<Vec<_>>())),
            Start(words) => {
                let words: Vec<&str> = words.split(' ').collect();
                comment
                    .windows(words.len())
                    .any(|row| row[0].1 && row.iter().map(|(word, _)| word).eq(&words))
            }
            Participle => comment.windows(3).any(|row| {
                let [(that, _), (is, _), (word, _)] = row else { return false };
                let is_participle = word.ends_with("ed") || IRREGULAR.split(' ').any(|other| other == word);
                that == "that" && ["is", "are", "was", "were"].contains(&is.as_str()) && is_participle
            }),
            IsNo => comment.windows(3).any(|row| {
                let [(is, _), (no, _), (word, _)] = row else { return false };
                ["is", "are"].contains(&is.as_str()) && no == "no" && word != "longer"
            }),
            VerbIt => comment.len() == 2 && comment[1].0 == "it",
        }
    }
}

/// The comments of a source: neighbouring lines are of one. Each with the number of its first line; code in it counts for
/// nothing.
pub fn read(source: &str) -> Vec<(usize, Vec<Word>)> {
    let (mut found, mut begun) = (Vec::new(), None::<(usize, String)>);
    for (number, line) in source.lines().chain([""]).enumerate() {
        let text = line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']));
        match text {
            Some(text) => {
                begun.get_or_insert_with(|| (number + 1, String::new())).1 += &format!("{text} ");
            }
            None => found.extend(begun.take().map(|(number, text)| (number, words(&text)))),
        }
    }
    found
}

fn words(text: &str) -> Vec<Word> {
    // Every second part is code, of which a word is left, so that what surrounds it does not meet.
    let parts = text.split('`').enumerate();
    let text: String = parts.map(|(at, part)| if at % 2 == 0 { part } else { "\u{1}" }).collect();
    let mut begins = true;
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let bare: String =
            word.chars().filter(|c| c.is_alphanumeric() || matches!(c, '\'' | '\u{1}')).collect();
        if !bare.is_empty() {
            found.push((bare.to_lowercase(), begins));
        }
        begins = word.ends_with('.');
    }
    found
}

#[test]
fn an_idiom_is_found_whole_and_in_no_code() {
    let source = "/// What stands\n/// there is none. It `goes on` is no longer it.\ncode(); // Of no line\n    //! Keeps it.\n\
                  x\n// That is kept: that was mended, is no fault.\n";
    let found = read(source);
    let names = |comment: &[Word]| {
        let has = IDIOMS.iter().filter(|(_, idiom, _)| idiom.is_in(comment));
        has.map(|(name, ..)| *name).collect::<Vec<_>>()
    };
    assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 4, 6]);
    let first = ["is none", "stands", "a sentence that begins with What", "a sentence that begins with It"];
    assert_eq!(names(&found[0].1), first);
    assert_eq!(names(&found[1].1), ["verb it", "keep"]);
    assert_eq!(names(&found[2].1), ["that is PARTICIPLE", "is no X", "keep"]);
}
