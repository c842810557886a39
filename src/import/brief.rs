//! Shortens tools' traffic. It is most of a log's bytes, and the place where keys leak.

/// The part of calls and results that is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Tools {
    /// The first and last 2 kB of each
    #[default]
    Brief,
    /// Everything; large parts go into `_blobs/`
    Full,
    /// Nothing
    None,
}

/// Bytes of head and of tail.
const KEPT: usize = 2048;

/// Bytes of a tool's text in a bubb, with [`Tools::Full`]. What is longer is whole in a blob.
const WHOLE: usize = 50_000;

impl Tools {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Tools::Brief => "brief",
            Tools::Full => "full",
            Tools::None => "none",
        }
    }

    /// The choice of a word.
    pub fn of(word: &str) -> Option<Tools> {
        [Tools::Brief, Tools::Full, Tools::None].into_iter().find(|tools| tools.word() == word)
    }

    /// True if nothing is cut from a text.
    pub fn keeps_whole(self, text: &str) -> bool {
        text.len() <= if self == Tools::Full { WHOLE } else { 2 * KEPT }
    }

    /// The kept part of a text, and whether the whole is to be in a blob.
    pub fn cut(self, text: String) -> (String, Option<String>) {
        match self {
            _ if self.keeps_whole(&text) => (text, None),
            Tools::Full => (cut(&text, WHOLE / 2), Some(text)),
            Tools::Brief | Tools::None => (shorten(text), None),
        }
    }
}

/// The head and tail of a text, in its own memory: that may be another thread's, and would not be used again.
fn shorten(mut text: String) -> String {
    let (head, tail) = ends(&text, KEPT);
    text.replace_range(head..tail, &left_out(tail - head));
    text.shrink_to_fit();
    text
}

/// The end of the head and the start of the tail, each of so many bytes in whole characters.
fn ends(text: &str, kept: usize) -> (usize, usize) {
    let head = text.floor_char_boundary(kept);
    (head, text.ceil_char_boundary(text.len().saturating_sub(kept)).max(head))
}

fn left_out(bytes: usize) -> String {
    format!("\n[{bytes} bytes left out]\n")
}

/// So many bytes of head and of tail, in whole characters.
fn cut(text: &str, kept: usize) -> String {
    let (head, tail) = ends(text, kept);
    let (start, rest) = text.split_at(head);
    let (left, end) = rest.split_at(tail - head);
    // Not `format!`, which reserves twice as much: these are many.
    [start, &left_out(left.len()), end].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_are_kept_in_whole_characters() {
        for (text, kept) in [
            ("x".repeat(4096), "x".repeat(4096)),
            ("x".repeat(4097), format!("{}\n[1 bytes left out]\n{}", "x".repeat(2048), "x".repeat(2048))),
            (
                "한".repeat(2000),
                format!("{}\n[{} bytes left out]\n{}", "한".repeat(682), 6000 - 4092, "한".repeat(682)),
            ),
        ] {
            assert_eq!(Tools::Brief.cut(text.clone()), (kept.clone(), None));
            assert_eq!(Tools::Full.cut(text.clone()), (text, None));
        }
        let long = "y".repeat(60_000);
        let (cut, whole) = Tools::Full.cut(long.clone());
        assert_eq!((cut.len(), whole), (50_000 + "\n[10000 bytes left out]\n".len(), Some(long)));
    }
}
