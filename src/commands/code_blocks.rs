//! Extracts the code blocks of a message, for `do --code` and `show --code`.

/// Returns the first block, or all if the option was `given` more than once.
pub fn wanted_blocks(answer: &str, given: u8) -> Vec<String> {
    let most = if given > 1 { usize::MAX } else { 1 };
    code_blocks(answer).into_iter().take(most).collect()
}

/// Returns the fenced blocks in order. An unclosed fence extends to the end of the text.
fn code_blocks(answer: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(CodeFence<'_>, String)> = None;
    for line in answer.lines() {
        match &mut open {
            None => open = CodeFence::parse(line).map(|fence| (fence, String::new())),
            Some((fence, text)) if fence.is_ended_by(line) => {
                blocks.push(std::mem::take(text));
                open = None;
            }
            Some((fence, text)) => {
                text.push_str(fence.unindented(line));
                text.push('\n');
            }
        }
    }
    blocks.extend(open.map(|(_, text)| text));
    blocks
}

struct CodeFence<'a> {
    indent: &'a str,
    mark: char,
    len: usize,
}

impl<'a> CodeFence<'a> {
    fn parse(line: &'a str) -> Option<CodeFence<'a>> {
        let begun = line.trim_start_matches([' ', '\t']);
        let indent = line.strip_suffix(begun)?;
        let mark = begun.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = begun.trim_start_matches(mark);
        let len = begun.len() - rest.len();
        // Three backquotes within a line are a code span.
        let is_fence = len >= 3 && (mark == '~' || !rest.contains('`'));
        is_fence.then_some(CodeFence { indent, mark, len })
    }

    fn is_ended_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.len && line.chars().all(|letter| letter == self.mark)
    }

    /// Removes at most the fence's indent.
    fn unindented<'l>(&self, line: &'l str) -> &'l str {
        let most = self.indent.len();
        let blank = line.bytes().take(most).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        line.get(blank..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_what_stands_between_fences() {
        for (answer, blocks) in [
            ("words", &[][..]),
            ("", &[]),
            ("Here:\n```sh\nls -l\n```\nDone.", &["ls -l\n"]),
            ("```\na\n\nb\n```\nand\n~~~py\nc\n~~~", &["a\n\nb\n", "c\n"]),
            ("```rust\nfn x() {}\n", &["fn x() {}\n"]),
            ("````md\n```\nin\n```\n````", &["```\nin\n```\n"]),
            ("1. so:\n   ```\n   a\n     b\n  c\n   ```", &["a\n  b\nc\n"]),
            ("```inline``` is none\n``two``", &[]),
            ("```\n```", &[""]),
            ("```\nx ```\n``` x\n```", &["x ```\n``` x\n"]),
            ("```sh\r\nls\r\n```", &["ls\n"]),
        ] {
            assert_eq!(code_blocks(answer), blocks, "{answer:?}");
        }
    }
}
