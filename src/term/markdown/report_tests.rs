//! Public reports about text that other programs took for formulas, or formulas that they took for other
//! Markdown. A row is the report's address, a text like its own and the text shown without colours.

use super::inline::read_whole;
use super::style::Style;
use super::{Markdown, MathNotation};
use crate::term::{Color, Paint};

#[rustfmt::skip]
const REPORTS: &[(&str, &str, &str)] = &[
    // Money.
    ("github.com/lobehub/lobehub/issues/8553", "pay **$1.50** a bundle, so **$3.00** for two", "pay $1.50 a bundle, so $3.00 for two"),
    ("github.com/get-bb/bb/issues/511", "from $5 to $10 _each_", "from $5 to $10 each"),
    ("github.com/FerroxLabs/wayland/pull/704", "the $2k group and the $25-50k group, $50k+ *too*", "the $2k group and the $25-50k group, $50k+ too"),
    ("github.com/nimbalyst/nimbalyst/issues/1385", "\"$990/mo\" and a \"$1,500 *gift*\"", "\"$990/mo\" and a \"$1,500 gift\""),
    ("github.com/typora/typora-issues/issues/1298", "$400 is *certainly* more than $300.", "$400 is certainly more than $300."),
    ("github.com/byxiaozhi/Typedown/pull/77", "$29,211 and *then* $34,390", "$29,211 and then $34,390"),
    ("github.com/tmustier/pi-for-excel/pull/405", "$16,055M of *sales*, $19.4B of debt", "$16,055M of sales, $19.4B of debt"),
    ("github.com/sbarex/QLMarkdown/issues/195", "$1,667.84 net in `a.md` gives $/hr and *more*", "$1,667.84 net in a.md gives $/hr and more"),
    ("github.com/remarkjs/remark-math/issues/21", "$300 is text, $$ax^2+bx$$ is *not*", "$300 is text, $$ax^2+bx$$ is not"),
    ("github.com/kostub/iosMath/issues/34", "donate $500 each, *then* $500 more", "donate $500 each, then $500 more"),
    ("github.com/omnigent-ai/omnigent/pull/5013", "$/PR is *down* but $/session is up", "$/PR is down but $/session is up"),
    ("github.com/qiweiii/markdown-sticky-notes/issues/55", r"it is \$5 or \$6", "it is $5 or $6"),
    ("github.com/mitya57/python-markdown-math/issues/18", r"\$a\$ is *text*", "$a$ is text"),
    ("github.com/zestedesavoir/zds-site/issues/80", "entre 20$ et 30$ *environ*", "entre 20$ et 30$ environ"),
    // Variables of shells.
    ("github.com/mathiasbynens/dotfiles/issues/568", "$HOME and ${HOME} are *one*, $HOMEa is not", "$HOME and ${HOME} are one, $HOMEa is not"),
    ("github.com/Kron4ek/Conty/pull/105", "$HOME/bin:$PATH is *searched*", "$HOME/bin:$PATH is searched"),
    ("github.com/vscode-shellcheck/vscode-shellcheck/pull/1917", "${userHome}/x and ${userHome}/*y*", "${userHome}/x and ${userHome}/y"),
    // Backslashes of formulas.
    ("github.com/Python-Markdown/markdown/issues/532", r"\(\)\n and \( x \)", r"\(\)\n and \( x \)"),
    ("github.com/markedjs/marked/issues/546", r"\(", r"\("),
    ("github.com/markedjs/marked/issues/3445", r"\[ \frac{\partial^2 u}{\partial t^2} = c^2 \]", r"\[ \frac{\partial^2 u}{\partial t^2} = c^2 \]"),
    ("github.com/orsharir/github-mathjax/issues/10", r"$\Omega=\{\omega_1, ..., \omega_N\}$", r"$\Omega=\{\omega_1, ..., \omega_N\}$"),
    ("github.com/runarberg/markdown-it-math/issues/59", r"Price is $\text{\$5}+x$.", r"Price is $\text{\$5}+x$."),
    ("github.com/classeur/markdown-it-mathjax/pull/11", r"$\sum_{\$4}^2$", r"$\sum_{\$4}^2$"),
    ("github.com/glushchenko/fsnotes/pull/823", r"the \(ax^2 + bx + c = 0\) one", r"the \(ax^2 + bx + c = 0\) one"),
    ("github.com/evilz/vscode-reveal/issues/919", r"`$ $` and `$\sigma$` and $\sigma$", r"$ $ and $\sigma$ and $\sigma$"),
    // Emphasis within formulas.
    ("github.com/Witiko/markdown/issues/73", "$$\nA_a \\Rightarrow B_b\n$$", "$$\nA_a \\Rightarrow B_b\n$$"),
    ("github.com/cp-algorithms/cp-algorithms/issues/243", r"$$\underbrace{1}_{2} \underbrace{1}_{2}$$", r"$$\underbrace{1}_{2} \underbrace{1}_{2}$$"),
    ("github.com/gettalong/kramdown/issues/115", r"$$\mathbb{Z}_{+} \rightarrow \mathbb{Z}_{+}$$", r"$$\mathbb{Z}_{+} \rightarrow \mathbb{Z}_{+}$$"),
    ("github.com/markedjs/marked/issues/544", "$A_i, A_{i+1}$", "$A_i, A_{i+1}$"),
    ("github.com/shd101wyy/markdown-preview-enhanced/issues/791", "so $[Q,P]_{q,p}=1$ and _this_", "so $[Q,P]_{q,p}=1$ and this"),
    ("github.com/pulldown-cmark/pulldown-cmark/issues/6", "*a $b*c$", "*a $b*c$"),
    ("github.com/HugoBlox/kit/issues/284", r"needs ${O(d_{\max})}$ storage, ${d_{\max}}$ is", r"needs ${O(d_{\max})}$ storage, ${d_{\max}}$ is"),
    ("github.com/Science-Discovery/Aether/issues/1167", "text $W_F^\\dagger T_a\nW_F$ end", "text $W_F^\\dagger T_a\nW_F$ end"),
    // Bars within tables.
    ("github.com/atom-community/markdown-preview-plus/issues/185", "|a|b|\n|-|-|\n|$P(A|B)$|x|\n", "a        │ b\n─────────┼────\n$P(A|B)$ │ x\n"),
    ("github.com/SabrinaJewson/cmarker.typ/issues/54", "|a|b|\n|-|-|\n|Bayes|$P(A | B)=x$|\n", "a     │ b\n──────┼─────────────\nBayes │ $P(A | B)=x$\n"),
    ("github.com/yzhang-gh/vscode-markdown/issues/641", "|$f(x)$|y|\n|-|-|\n|1|$\\ln|x| + C$|\n", "$f(x)$ │ y\n───────┼─────────────\n1      │ $\\ln|x| + C$\n"),
    ("github.com/marktext/marktext/issues/1930", "|a|b|\n|-|-|\n|a $a\\|b$|c|\n", "a       │ b\n────────┼────\na $a|b$ │ c\n"),
    ("github.com/shd101wyy/vscode-markdown-preview-enhanced/issues/616", "|a|b|\n|-|-|\n|$p(x|y)$|c|\n", "a        │ b\n─────────┼────\n$p(x|y)$ │ c\n"),
    // Paths of Windows.
    ("github.com/anthropics/claude-code/issues/88952", r"D:\proj\data\_scratch\out\A0_raw.wav", r"D:\proj\data\_scratch\out\A0_raw.wav"),
    ("github.com/Kilo-Org/kilocode/pull/7907", r"C:\Users\user1\.config", r"C:\Users\user1\.config"),
    ("github.com/rust-lang/rustup/pull/2174", r"%USERPROFILE%\.cargo", r"%USERPROFILE%\.cargo"),
    ("github.com/trezor/python-trezor/pull/7", r"C:\\dir\\file", r"C:\\dir\\file"),
    // Escapes that are meant as such.
    ("github.com/atom-community/markdown-preview-plus/issues/156", r"\[arbitrary text\] _x_", r"\[arbitrary text\] x"),
    ("github.com/Witiko/markdown/issues/61", r"write x\_i for it", "write x_i for it"),
];

/// Renders a text that arrives in these chunks, without colours.
fn render<'t>(chunks: impl IntoIterator<Item = &'t [u8]>, columns: fn() -> usize) -> String {
    let mut markdown = Markdown::new(Paint::new(Color::Never, true, |_| None), MathNotation::Source, columns);
    let mut out = String::new();
    chunks.into_iter().for_each(|chunk| markdown.push(chunk, &mut out));
    markdown.finish(&mut out);
    out
}

#[test]
fn reports_are_shown_without_loss_whatever_the_chunks() {
    assert!(REPORTS.len() >= 30);
    for (address, text, expected) in REPORTS {
        assert_eq!(&render([text.as_bytes()], || 120), expected, "{address}");
        assert_eq!(&render(text.as_bytes().chunks(1), || 120), expected, "{address}, byte by byte");
        for at in 1..text.len() {
            let (before, after) = text.as_bytes().split_at(at);
            assert_eq!(&render([before, after], || 120), expected, "{address}, torn at {at}");
        }
    }
}

#[test]
fn later_lines_of_a_formula_have_the_marks_of_its_first() {
    for (text, expected) in [
        ("> a $b\n> c$ d", "│ a $b\n│ c$ d"),
        ("> $$\n> a_1 * b_1\n> $$\n> *x*", "│ $$\n│ a_1 * b_1\n│ $$\n│ x"),
        ("- $$\n  a_1\n    b_1\n  $$\n- x", "• $$\n  a_1\n    b_1\n  $$\n• x"),
        ("# A $b_1$ and $c\nd$", "A $b_1$ and $c\nd$"),
        ("\\[\n- a_1\n+ b_1\n\\]\n\nx", "\\[\n- a_1\n+ b_1\n\\]\n\nx"),
        ("a $b\n```\nc$\n```", "a $b\n```\nc$\n```"),
        ("**a $x*y$ b**", "a $x*y$ b"),
        ("| $5 | $10 |\n|-|-|\n|$6|$7|\n", "$5  │ $10\n────┼────\n$6  │ $7\n"),
    ] {
        assert_eq!(render([text.as_bytes()], || 80), expected, "{text:?}");
        assert_eq!(render(text.as_bytes().chunks(1), || 80), expected, "{text:?}, byte by byte");
    }
}

#[test]
fn a_backslash_is_an_escape_where_its_character_has_a_meaning() {
    for (text, shown) in [
        (r"\$5 and \$6", "$5 and $6"),
        (r"snake\_case\_name 2 \* 3", "snake_case_name 2 * 3"),
        (r"C:\\Users\\_me", r"C:\\Users\\_me"),
        (r"C:\Users\_me", r"C:\Users\_me"),
        (r"D:\_x\*.txt", r"D:\_x\*.txt"),
        (r"abc:\_x", "abc:_x"),
        (r"\\server\share", r"\\server\share"),
        (r"C:\Users\me\.config", r"C:\Users\me\.config"),
        (r"\# no heading", "# no heading"),
        (r"a \# b", r"a \# b"),
        (r"\- no item", "- no item"),
        (r"1\. no item", "1. no item"),
        (r"v1\.2", r"v1\.2"),
        (r"\~~no\~~", "~~no~~"),
        (r"\~5", r"\~5"),
        (r"\`no\`", "`no`"),
        (r"\[a](b)", "[a](b)"),
        (r"\[1]", r"\[1]"),
        (r"\![a]", "![a]"),
        (r"\!", r"\!"),
        (r"\<br\>", "<br>"),
        (r"\< 5", r"\< 5"),
        (r"\d+\.\d*", r"\d+\.\d*"),
        (r"end\", r"end\"),
    ] {
        let mut spans = Vec::new();
        read_whole(text, MathNotation::Source, Style::default(), &mut spans);
        let made: String = spans.iter().map(|span| span.text.as_str()).collect();
        assert_eq!(made, shown, "{text}");
    }
}
