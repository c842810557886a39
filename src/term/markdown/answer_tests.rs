//! Generated answers with formulas, prices, variables, paths and regular expressions in every block: what is shown,
//! without colours and blanks, is the source but for markup and formulas in Unicode, whatever the width and the chunks.
//!
//! The suite tears a sample; `LEPO_ALL_ANSWERS=1` tears all of them at each byte, which contains each character.

use super::{Markdown, MathNotation};
use crate::term::escape_sequence::pieces;
use crate::term::links::OpenLink;
use crate::term::{Color, Paint};

const ANSWERS: u64 = 400;

/// Texts within a line, each with what is shown of it. The second list is short enough for cells.
const PARTS: &[(&str, &str)] = &[
    (r"the energy $E = mc^2$ of it", "the energy E = mc² of it"),
    (r"\(\alpha + \beta \leq \gamma\)", "α + β ≤ γ"),
    (r"$\sum_{i=1}^{n} a_i b_i$", "∑ᵢ₌₁ⁿ aᵢ bᵢ"),
    (r"$\frac{a+b}{2a}$ and $\sqrt{b^2 - 4ac}$", "(a+b)/(2a) and √(b² - 4ac)"),
    (r"$A \subseteq B \cup \{1, 2\}$", "A ⊆ B ∪ {1, 2}"),
    (r"the matrix $W_Q^T x_{i,j}$ stays", r"the matrix $W_Q^T x_{i,j}$ stays"),
    (r"\(\hat{x} * \mathbf{y} * z\)", r"\(\hat{x} * \mathbf{y} * z\)"),
    (
        r"$\begin{pmatrix} a & b \\ c_1 & d_1 \end{pmatrix}$",
        r"$\begin{pmatrix} a & b \\ c_1 & d_1 \end{pmatrix}$",
    ),
    (r"it costs $5 to $10, or $1,500.50 a year", "it costs $5 to $10, or $1,500.50 a year"),
    (r"\$5 and **$20** each", "$5 and $20 each"),
    (r"export PATH=$HOME/bin:$PATH and ${HOME}", "export PATH=$HOME/bin:$PATH and ${HOME}"),
    (r"in C:\Users\_me\(x86)\[new] of it", r"in C:\Users\_me\(x86)\[new] of it"),
    (r"\\server\share\data there", r"\\server\share\data there"),
    (r"sed s/\(a\)/b/ or \d+\.\d* or \[a-z\]", r"sed s/\(a\)/b/ or \d+\.\d* or \[a-z\]"),
    (r"`$x_1$ and \(a\)` is code", r"$x_1$ and \(a\) is code"),
    (r"**bold $x_1^2$ text** and *$\pi$*", "bold x₁² text and π"),
    (r"see \[1\] and \[text\](address)", r"see \[1\] and \[text\](address)"),
    (r"한국어 $n^2$은 제곱이고 \(k\)는 수", "한국어 n²은 제곱이고 k는 수"),
    (r"snake\_case and 2 \* 3 and user_id", "snake_case and 2 * 3 and user_id"),
    (r"an open $x and one \( more", r"an open $x and one \( more"),
];

const CELLS: &[(&str, &str)] = &[
    ("$x^2$", "x²"),
    (r"$\pi$", "π"),
    ("$5", "$5"),
    (r"$P(A|B)$", "$P(A|B)$"),
    (r"\(a \ne b\)", "a ≠ b"),
    ("`$a$`", "$a$"),
    (r"$x^T$", "$x^T$"),
    ("word", "word"),
    ("[m](mailto:a)", "m (mailto:a)"),
    (r"C:\tmp", r"C:\tmp"),
];

/// Displayed formulas with their lines, and paragraphs with links.
const DISPLAYS: &[(&str, &str)] = &[
    ("$$\nE = mc^2\n$$", "E = mc²"),
    ("\\[\nx = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}\n\\]", "x = (-b ± √(b² - 4ac))/(2a)"),
    ("$$\na_1 \\\\\n+ b_1\n$$", "a₁\n+ b₁"),
    ("$$\n\\lim_{x \\to 0} f(x) * g(x)\n$$", "$$\n\\lim_{x \\to 0} f(x) * g(x)\n$$"),
    ("$$x^2 + y^2 = z^2$$", "x² + y² = z²"),
    (
        "see [the **page** of $x^2$](https://a.test/b_c?d=$x*y*) of it",
        "see the page of x² (https://a.test/b_c?d=$x*y*) of it",
    ),
    ("[https://a.test/of/a/long/path](https://a.test/of/a/long/path)", "https://a.test/of/a/long/path"),
    ("**[편지](mailto:나@a.test) of** it", "편지 (mailto:나@a.test) of it"),
];

/// Numbers that look random, the same in each run.
struct SeededNumbers(u64);

impl SeededNumbers {
    fn below(&mut self, count: usize) -> usize {
        // Knuth's multiplier for linear congruence modulo 2^64.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn pick<'t>(&mut self, of: &'t [(&'t str, &'t str)]) -> (&'t str, &'t str) {
        of[self.below(of.len())]
    }
}

/// Makes an answer and the text that is shown of it.
fn generate(seed: u64) -> (String, String) {
    let mut numbers = SeededNumbers(seed);
    let (mut source, mut shown) = (String::new(), String::new());
    for _ in 0..2 + numbers.below(4) {
        let (one, two) = (numbers.pick(PARTS), numbers.pick(PARTS));
        let ((a, a_shown), (b, b_shown)) = (one, two);
        match numbers.below(7) {
            0 => {
                source += &format!("{a} and {b}.\n\n");
                shown += &format!("{a_shown} and {b_shown}.");
            }
            1 => {
                source += &format!("- {a}\n- {b}\n\n");
                shown += &format!("{a_shown}{b_shown}");
            }
            2 => {
                source += &format!("1. {a}\n2. {b}\n\n");
                shown += &format!("1.{a_shown}2.{b_shown}");
            }
            3 => {
                source += &format!("> {a}\n> {b}\n\n");
                shown += &format!("{a_shown}{b_shown}");
            }
            4 => {
                source += &format!("## {a}\n\n");
                shown += a_shown;
            }
            5 => {
                let (c, d) = (numbers.pick(CELLS), numbers.pick(CELLS));
                source += &format!("|{}|{}|\n|-|-|\n|{}|{}|\n\n", c.0, d.0, d.0, c.0);
                shown += &format!("{}{}{}{}", c.1, d.1, d.1, c.1);
            }
            _ => {
                let (text, text_shown) = numbers.pick(DISPLAYS);
                source += &format!("{a}\n\n{text}\n\n");
                shown += &format!("{a_shown}{text_shown}");
            }
        }
    }
    (source, shown)
}

fn render<'t>(chunks: impl IntoIterator<Item = &'t [u8]>, columns: fn() -> usize) -> String {
    render_in(Color::Never, chunks, columns)
}

/// Renders for a terminal that shows links.
fn render_in<'t>(color: Color, chunks: impl IntoIterator<Item = &'t [u8]>, columns: fn() -> usize) -> String {
    let paint = Paint::new(color, true, |name| (name == "WT_SESSION").then(|| "1".into()));
    let mut markdown = Markdown::new(paint, MathNotation::Unicode, columns);
    let mut out = String::new();
    chunks.into_iter().for_each(|chunk| markdown.push(chunk, &mut out));
    markdown.finish(&mut out);
    out
}

/// Drops colours and links; each link is closed on its line.
fn strip(painted: &str) -> String {
    for line in painted.lines() {
        let mut link = OpenLink::default();
        for piece in pieces(line) {
            link.read(piece);
        }
        assert_eq!(link.ends().1, "", "{painted:?}");
    }
    pieces(painted).filter(|piece| !piece.starts_with('\u{1b}')).collect()
}

/// Drops blanks and the signs of blocks, which depend on the width.
fn condense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !"│─┼•".contains(*c)).collect()
}

#[test]
fn generated_answers_are_shown_without_loss_whatever_the_width_and_the_chunks() {
    let is_whole = lepo_base::env::var("LEPO_ALL_ANSWERS").is_some();
    let widths: [fn() -> usize; 3] = [|| 40, || 80, || 120];
    let mut has_links = false;
    for seed in 0..ANSWERS {
        let (source, shown) = generate(seed);
        for (i, columns) in widths.into_iter().enumerate() {
            let whole = render([source.as_bytes()], columns);
            assert_eq!(condense(&whole), condense(&shown), "{seed}, {} columns: {source}", columns());
            let painted = render_in(Color::Always, [source.as_bytes()], columns);
            assert_eq!(strip(&painted), whole, "{seed}, with links: {source}");
            has_links |= painted.contains("\u{1b}]8;;http");
            let is_sampled = seed % 20 == i as u64;
            if is_whole || is_sampled || seed % 4 == 0 {
                assert_eq!(
                    render(source.as_bytes().chunks(1), columns),
                    whole,
                    "{seed}, byte by byte: {source}"
                );
                let painted = render_in(Color::Always, source.as_bytes().chunks(1), columns);
                assert_eq!(strip(&painted), whole, "{seed}, with links, byte by byte: {source}");
            }
            if is_whole || is_sampled {
                for at in 1..source.len() {
                    let (before, after) = source.as_bytes().split_at(at);
                    assert_eq!(render([before, after], columns), whole, "{seed}, torn at {at}: {source}");
                }
            }
        }
    }
    assert!(has_links);
}

#[test]
fn the_answers_have_every_part() {
    let all: String = (0..ANSWERS).map(|seed| generate(seed).0).collect();
    for (part, _) in PARTS.iter().chain(CELLS).chain(DISPLAYS) {
        assert!(all.contains(part), "{part}");
    }
}
