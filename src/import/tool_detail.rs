//! Shortens tool traffic: it is most of a log's bytes, and where keys leak.

/// Which part of calls and results is imported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ToolDetail {
    /// The first and last 2 kB of each
    #[default]
    Brief,
    /// Everything; large parts go into `_blobs/`
    Full,
    /// Nothing
    None,
}

/// Bytes of the head, and of the tail.
const KEPT: usize = 2048;

/// Bytes of a tool's text in a bubb with [`ToolDetail::Full`]; a longer text is stored whole in a blob.
const WHOLE: usize = 50_000;

impl ToolDetail {
    pub fn as_str(self) -> &'static str {
        match self {
            ToolDetail::Brief => "brief",
            ToolDetail::Full => "full",
            ToolDetail::None => "none",
        }
    }

    pub fn parse(word: &str) -> Option<ToolDetail> {
        [ToolDetail::Brief, ToolDetail::Full, ToolDetail::None]
            .into_iter()
            .find(|tools| tools.as_str() == word)
    }

    pub fn keeps_whole(self, text: &str) -> bool {
        text.len() <= if self == ToolDetail::Full { WHOLE } else { 2 * KEPT }
    }

    /// Returns the shortened text, and the whole text if a blob must store it.
    pub fn cut(self, text: String) -> (String, Option<String>) {
        match self {
            _ if self.keeps_whole(&text) => (text, None),
            ToolDetail::Full => (cut(&text, WHOLE / 2), Some(text)),
            ToolDetail::Brief | ToolDetail::None => (shorten(text), None),
        }
    }
}

/// Shortens within the allocation: the allocation may come from another thread, which would not reuse it.
fn shorten(mut text: String) -> String {
    let (head, tail) = ends(&text, KEPT);
    text.replace_range(head..tail, &left_out(tail - head));
    text.shrink_to_fit();
    text
}

/// Returns the end of the head and the start of the tail, equally many bytes each, at character boundaries.
fn ends(text: &str, kept: usize) -> (usize, usize) {
    let head = text.floor_char_boundary(kept);
    (head, text.ceil_char_boundary(text.len().saturating_sub(kept)).max(head))
}

fn left_out(bytes: usize) -> String {
    format!("\n[{bytes} bytes left out]\n")
}

/// Copies the head and the tail, equally many bytes each, at character boundaries.
fn cut(text: &str, kept: usize) -> String {
    let (head, tail) = ends(text, kept);
    let (start, rest) = text.split_at(head);
    let (left, end) = rest.split_at(tail - head);
    // `format!` reserves twice the size, and there are many of these.
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
            assert_eq!(ToolDetail::Brief.cut(text.clone()), (kept.clone(), None));
            assert_eq!(ToolDetail::Full.cut(text.clone()), (text, None));
        }
        let long = "y".repeat(60_000);
        let (cut, whole) = ToolDetail::Full.cut(long.clone());
        assert_eq!((cut.len(), whole), (50_000 + "\n[10000 bytes left out]\n".len(), Some(long)));
    }
}
