//! Public reports about programs that show formulas on a terminal. A row is the report's address, a text like its own
//! and the text that lepo shows, without colours.

use super::{Markdown, MathNotation};
use crate::term::{Color, Paint};

#[rustfmt::skip]
const REPORTS: &[(&str, &str, &str)] = &[
    // The source is all that was shown.
    ("github.com/anomalyco/opencode/issues/34407", r"the mean \(\mu\), the sum $\sum$ of $x^2$ and \(\frac{a}{b}\).", "the mean μ, the sum ∑ of x² and a/b."),
    ("github.com/anomalyco/opencode/issues/49486", r"$$\text{Prov}(x, y)$$ and $\exists x \text{Prov}(x, y)$", "Prov(x, y) and ∃x Prov(x, y)"),
    ("github.com/openai/codex/issues/39171", r"solve $x^2 + 1 = 0$, and \(\mathfrak{g}_2\) is one it lacks", r"solve x² + 1 = 0, and \(\mathfrak{g}_2\) is one it lacks"),
    ("github.com/adamyodinsky/TerminalGPT/issues/126", r"the roots are $x = \pm\sqrt{2}$", "the roots are x = ±√2"),
    ("github.com/TheR1D/shell_gpt/issues/486", r"inline \(\alpha + \beta\) or", "inline α + β or"),
    ("github.com/google-gemini/gemini-cli/issues/25656", r"the set $\{P_0, P_1, \dots, P_n\}$ of points", "the set {P₀, P₁, …, Pₙ} of points"),
    ("github.com/google-gemini/gemini-cli/pull/25802", r"from $\to$ to, \\server\share at $5.99 or $6.99", r"from → to, \\server\share at $5.99 or $6.99"),
    ("github.com/QwenLM/qwen-code/pull/3439", r"$E = mc^2$ and \(\alpha + \beta \leq \gamma\)", "E = mc² and α + β ≤ γ"),
    ("github.com/esengine/DeepSeek-Reasonix/pull/2757", r"$H_2O$ and $\sum_{i=1}^{n}$; it costs $5 and $10", "H₂O and ∑ᵢ₌₁ⁿ; it costs $5 and $10"),
    ("github.com/anomalyco/opencode/pull/38995", r"$0.02/GB or $203/month; $\pi_T$ and $e^{z_i}$ stay", r"$0.02/GB or $203/month; $\pi_T$ and $e^{z_i}$ stay"),
    ("github.com/NousResearch/hermes-agent/pull/17175", r"$\mathbb{R}$ is *not* a link, $\sum_{n=0}^\infty$ has no form", r"ℝ is not a link, $\sum_{n=0}^\infty$ has no form"),
    ("github.com/mangowhoiscloud/geode/pull/1141", r"$\text{Complexity}(f) = \#\text{operators} + 1$", "Complexity(f) = #operators + 1"),
    ("github.com/PrimeIntellect-ai/prime-agent/pull/125", r"a $w_1 x_1 + w_2 x_2$ b _c_", "a w₁ x₁ + w₂ x₂ b c"),
    ("github.com/anomalyco/opencode/pull/45339", r"\(\sqrt[3]{x} \leq \sqrt{x}\)", "∛x ≤ √x"),
    // A character that Unicode lacks, or has by halves.
    ("github.com/openai/codex/issues/18906", r"$\sum_{i=0}^{n} \alpha_i + \int_0^\infty x dx$, $x_c$ and $A^S$", r"$\sum_{i=0}^{n} \alpha_i + \int_0^\infty x dx$, $x_c$ and $A^S$"),
    ("github.com/anthropics/claude-code/issues/63139", r"$V_{DC} = \frac{V_m}{\pi} \approx 0.318\,V_m$", r"$V_{DC} = \frac{V_m}{\pi} \approx 0.318\,V_m$"),
    // Something was lost.
    ("github.com/anthropics/claude-code/issues/80702", r"$\forall\, \varepsilon$ and $$f(n) = 2n, \qquad g(n) = n.$$", "∀ ε and f(n) = 2n,    g(n) = n."),
    ("github.com/code-yeongyu/senpi/pull/449", "an e$\\text{\u{301}}$ and $x$.", "an e$\\text{\u{301}}$ and x."),
    ("github.com/Mininglamp-OSS/octo-web/pull/1090", "echo $X_1,$Y_2 and echo $A_1+$B_2", "echo $X_1,$Y_2 and echo $A_1+$B_2"),
    ("github.com/LostRuins/lite.koboldai.net/issues/186", r"**$\text{Text_Text}$** is a name", "Text_Text is a name"),
    // Delimiters that a program before has dropped are no formula.
    ("github.com/marcolardera/chatgpt-cli/issues/64", r"[ R^2 = 1 - \frac{a}{b} ]", r"[ R^2 = 1 - \frac{a}{b} ]"),
    ("github.com/yukiharada1228/videoq/pull/862", r"by $100 [1], or \(a\) in \[2\]", r"by $100 [1], or a in \[2\]"),
];

fn render<'t>(chunks: impl IntoIterator<Item = &'t [u8]>) -> String {
    let paint = Paint::new(Color::Never, true, |_| None);
    let mut markdown = Markdown::new(paint, MathNotation::Unicode, || 120);
    let mut out = String::new();
    chunks.into_iter().for_each(|chunk| markdown.push(chunk, &mut out));
    markdown.finish(&mut out);
    out
}

#[test]
fn formulas_of_reports_are_shown_without_loss_whatever_the_chunks() {
    for (address, text, expected) in REPORTS {
        assert_eq!(&render([text.as_bytes()]), expected, "{address}");
        assert_eq!(&render(text.as_bytes().chunks(1)), expected, "{address}, byte by byte");
        for at in 1..text.len() {
            let (before, after) = text.as_bytes().split_at(at);
            assert_eq!(&render([before, after]), expected, "{address}, torn at {at}");
        }
    }
}

#[test]
fn a_formula_of_several_lines_has_the_marks_of_its_first() {
    for (text, expected) in [
        ("a\n\n$$\nE = mc^2\n$$\n\nb", "a\n\nE = mc²\n\nb"),
        ("> a $x_1 +\n> y$ b", "│ a x₁ +\n│ y b"),
        ("- so\n  $$\n  a_1 \\\\\n  b_1\n  $$\n- x", "• so\n  a₁\n  b₁\n• x"),
        ("- $$\n  a_1\n    b_1\n  $$\n- x", "• a₁\n    b₁\n• x"),
        ("$$\n    a_1\n      + b\n$$\n", "a₁\n  + b\n"),
        ("# The $x^2$ of $y_1$\nz", "The x² of y₁\nz"),
        ("**bold $x^2$ text** and *$x_1$*", "bold x² text and x₁"),
        ("|n|$n^2$|\n|-|-|\n|2|$2^2 = 4$|\n", "n   │ n²\n────┼───────\n2   │ 2² = 4\n"),
        ("\\[\nx = 1\n\\]\n", "x = 1\n"),
        ("sed s/\\(a\\)/b/ and \\[text\\](address)", "sed s/\\(a\\)/b/ and \\[text\\](address)"),
    ] {
        assert_eq!(render([text.as_bytes()]), expected, "{text:?}");
        assert_eq!(render(text.as_bytes().chunks(1)), expected, "{text:?}, byte by byte");
    }
}
