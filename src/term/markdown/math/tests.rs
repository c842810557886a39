//! Formulas in Unicode, and those that stay as they are written.

use super::*;

fn alone(formula: &str) -> Option<String> {
    to_unicode(formula, FormulaContext { indent: Some(0), ..FormulaContext::default() })
}

#[test]
fn whole_formulas_are_written_in_unicode() {
    let rows = [
        ("$x$", "x"),
        (r"\(\alpha\)", "α"),
        ("$E = mc^2$", "E = mc²"),
        ("$$ax^2+bx+c=0$$", "ax²+bx+c=0"),
        (r"$x_1, x_2, \ldots, x_n$", "x₁, x₂, …, xₙ"),
        (r"$a\in B$", "a ∈ B"),
        (r"$A \subseteq B \cup C$", "A ⊆ B ∪ C"),
        (r"$2\pi r$", "2πr"),
        (r"$\alpha \beta + \gamma$", "αβ + γ"),
        (r"$\forall x \in \mathbb{R}: x^2 \geq 0$", "∀x ∈ ℝ: x² ≥ 0"),
        (r"$f: A \to B$", "f: A → B"),
        (r"$\pm 1$", "±1"),
        (r"$a\pm b$", "a ± b"),
        (r"$90^\circ$", "90°"),
        (r"$f'(x) = f''$", "f′(x) = f′′"),
        (r"$x_i^2 + x^{n + 1}_k$", "xᵢ² + xₖⁿ⁺¹"),
        (r"${}^{14}C$", "¹⁴C"),
        (r"$\sin x + \cos(y)$", "sin x + cos(y)"),
        (r"$2\sin\theta$", "2 sin θ"),
        (r"$\log_2 n$", "log₂ n"),
        (r"$\sum_{i=1}^{n}a_i$", "∑ᵢ₌₁ⁿ aᵢ"),
        (r"$\sum_{i=1}^n i = \frac{n(n+1)}{2}$", "∑ᵢ₌₁ⁿ i = n(n+1)/2"),
        (r"$\int_0^1 x^2 \, dx$", "∫₀¹ x² dx"),
        (r"$\frac{1}{2}$", "1/2"),
        (r"$\frac12 x$", "(1/2) x"),
        (r"$\frac{a+b}{c}$", "(a+b)/c"),
        (r"$\frac{1}{2a}$", "1/(2a)"),
        (r"$\frac{dy}{dx} = \frac{\partial f}{\partial x}$", "dy/dx = ∂f/∂x"),
        (r"$x\frac{a}{b}$", "x(a/b)"),
        (r"$\left(\frac{a}{b}\right)^2$", "(a/b)²"),
        (r"$\frac{a}{b}^2$", "(a/b)²"),
        (r"$\sin\frac{x}{2}$", "sin(x/2)"),
        (r"$\frac{\frac{a}{b}}{c}$", "(a/b)/c"),
        (r"$a \div \frac{b}{c}$", "a ÷ (b/c)"),
        (r"$\frac{n!}{k!(n-k)!}$", "n!/(k!(n-k)!)"),
        (r"$x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$", "x = (-b ± √(b² - 4ac))/(2a)"),
        (r"$\sqrt{2}$", "√2"),
        (r"$\sqrt{2}\pi$", "√(2)π"),
        (r"$\sqrt{x}^2$", "(√x)²"),
        (r"$\sqrt[3]{27}$", "∛27"),
        (r"$\frac{\sqrt{3}}{2}$", "√3/2"),
        (r"$P(A \mid B) = \frac{P(B \mid A) P(A)}{P(B)}$", "P(A | B) = (P(B | A) P(A))/(P(B))"),
        (r"$\text{if } x > 0$", "if x > 0"),
        (r"$x \text{ if } y$", "x if y"),
        (r"$x_{\text{max}}$", "xₘₐₓ"),
        (r"$\operatorname{softmax}(x)$", "softmax(x)"),
        (r"$\mathrm{Var}(X) = \sigma^2$", "Var(X) = σ²"),
        (r"$a \equiv b \pmod{n}$", "a ≡ b (mod n)"),
        (r"$a \bmod b$", "a mod b"),
        (r"$\{1, 2\}$", "{1, 2}"),
        (r"$\left\| x \right\|$", "‖x‖"),
        (r"$\left. y \right|_0$", "y|₀"),
        (r"$\bigl( x^2 \bigr)$", "(x²)"),
        (r"$50\% = x$", "50% = x"),
        (r"$a \quad b_1$", "a  b₁"),
        ("$$\na = b_1 \\\\\n  c = d^2\n$$", "a = b₁\n  c = d²"),
        (r"\(n-1\)", "n-1"),
        (r"\[ x = 1 \]", "x = 1"),
        (r"$1{,}000^2$", "1,000²"),
        (r"$\Theta(n \log n)$", "Θ(n log n)"),
        (r"$O(n^2)$", "O(n²)"),
        (r"$\neg p \lor q \iff p \implies q$", "¬p ∨ q ⟺ p ⟹ q"),
        ("$가^2$", "가²"),
    ];
    let wrong = rows.iter().filter(|(formula, shown)| alone(formula).as_deref() != Some(shown));
    let wrong: Vec<String> = wrong.map(|(formula, _)| format!("{formula} → {:?}", alone(formula))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_formula_that_would_lose_something_stays() {
    let rows = [
        // No Unicode character, or none without combining.
        r"$x^T$",
        r"$e^{-x}$",
        r"$a_{i,j}$",
        r"$\hat{x}$",
        r"$\mathbf{v}$",
        r"$\overline{AB}$",
        r"$x^{y^2}$",
        r"$e^{\frac{1}{2}}$",
        r"$\lim_{x \to 0} x$",
        r"$\sqrt[n]{x}$",
        r"$\sqrt{x+1}^2$",
        // A layout.
        r"$$\begin{pmatrix} a & b \end{pmatrix}$$",
        r"$$a &= b$$",
        r"$$a = b \\ c = d$$",
        r"$\binom{n}{k}$",
        // Names and numbers of more than one character.
        r"$x_max$",
        r"$user_id$",
        r"$2^10$",
        // Not LaTeX.
        r"$x^$",
        r"$^2$",
        r"$x^2^3$",
        r"${x^2$",
        r"$x^2}$",
        r"$\frac{a}$",
        r"$\left( x^2$",
        r"$x \right)$",
        r"$\unknown x$",
        r"$a % b_1$",
        r"$\text{a $x$ b}$",
        r"$\ $",
        // Nothing that only a formula has.
        "$abc$",
        "$f(x)$",
        "$P(A|B)$",
        "$key=value$",
        "$max-min$",
        r"\[1\]",
        r"\[text\]",
        r"\[y/N\]",
        r"\[a-z\]",
        r"\[key=value\]",
        r"\[some\_name\]",
        r"\(y/n\)",
        r"\(.*\)",
    ];
    let wrong: Vec<_> = rows.iter().filter_map(|formula| Some((formula, alone(formula)?))).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let deep = format!("${}x{}$", r"\frac{".repeat(40), "}{2}".repeat(40));
    assert_eq!(alone(&deep), None);
    assert_eq!(alone(&format!("${}$", "{".repeat(30_000))), None);
    let long = format!("$x_1{}$", "+x_1".repeat(10_000));
    assert_eq!(alone(&long).map(|text| text.chars().count()), Some(30_002));
}

#[test]
fn brackets_after_a_backslash_are_formulas_only_where_these_stand() {
    for (before, formula, after, shown) in [
        (Some('/'), r"\(a\)", Some('/'), None),
        (Some('\''), r"\(a\)", Some('\''), None),
        (Some(' '), r"\(a\)", Some(' '), Some("a")),
        (Some('('), r"\(n\)", Some('t'), Some("n")),
        (Some('값'), r"\(n\)", Some('은'), Some("n")),
        (Some(' '), r"\(a\)", Some('{'), None),
        (None, r"\[x\]", Some(' '), None),
        (None, r"\[x\]", Some('\n'), Some("x")),
        (Some('d'), r"\[x = 1\]", None, None),
        (Some('/'), r"\(\alpha\)", Some('/'), Some("α")),
    ] {
        let context = FormulaContext { before, indent: before.is_none().then_some(0), after };
        assert_eq!(to_unicode(formula, context).as_deref(), shown, "{before:?} {formula} {after:?}");
    }
}
