//! The table of LaTeX commands that have a Unicode character, by which formulas are written on a terminal.
//!
//! Not in the table: accents (they need combining characters), bold and script letters (letters stay upright), and
//! anything with a layout, such as matrices and cases. A formula with such a command is shown as its source.

/// Decides the spaces and brackets around an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomClass {
    /// A letter that a command names: the space that ends its name is not shown before another letter.
    Letter,
    /// A number, a letter or text.
    Operand,
    Relation,
    Binary,
    /// A sign of ASCII, with spaces as in the source.
    Sign,
    /// The factorial sign.
    Postfix,
    Large,
    Function,
    Open,
    Close,
    /// A vertical bar, which opens or closes.
    Bar,
    /// A comma or another mark between operands.
    Point,
    Space,
    LineEnd,
    /// `{}`, the base of scripts before an operand.
    Empty,
}

use AtomClass::{Bar, Binary, Close, Function, Large, Letter, Open, Operand, Point, Relation};

/// Commands without arguments, sorted by name.
#[rustfmt::skip]
const SYMBOLS: &[(&str, &str, AtomClass)] = &[
    ("Box", "□", Letter), ("Delta", "Δ", Letter), ("Downarrow", "⇓", Relation), ("Gamma", "Γ", Letter),
    ("Im", "ℑ", Letter), ("Lambda", "Λ", Letter), ("Leftarrow", "⇐", Relation),
    ("Leftrightarrow", "⇔", Relation), ("Longleftarrow", "⟸", Relation),
    ("Longleftrightarrow", "⟺", Relation), ("Longrightarrow", "⟹", Relation), ("Omega", "Ω", Letter),
    ("Phi", "Φ", Letter), ("Pi", "Π", Letter), ("Pr", "Pr", Function), ("Psi", "Ψ", Letter),
    ("Re", "ℜ", Letter), ("Rightarrow", "⇒", Relation), ("Sigma", "Σ", Letter), ("Theta", "Θ", Letter),
    ("Uparrow", "⇑", Relation), ("Upsilon", "Υ", Letter), ("Vert", "‖", Bar), ("Xi", "Ξ", Letter),
    ("aleph", "ℵ", Letter), ("alpha", "α", Letter), ("amalg", "⨿", Binary), ("angle", "∠", Letter),
    ("approx", "≈", Relation), ("arccos", "arccos", Function), ("arcsin", "arcsin", Function),
    ("arctan", "arctan", Function), ("arg", "arg", Function), ("ast", "∗", Binary),
    ("asymp", "≍", Relation), ("backslash", "\\", Operand), ("beta", "β", Letter), ("beth", "ℶ", Letter),
    ("bigcap", "⋂", Large), ("bigcup", "⋃", Large), ("bigoplus", "⨁", Large), ("bigotimes", "⨂", Large),
    ("bigsqcup", "⨆", Large), ("bigvee", "⋁", Large), ("bigwedge", "⋀", Large), ("bmod", "mod", Binary),
    ("bot", "⊥", Letter), ("bowtie", "⋈", Binary), ("bullet", "∙", Binary), ("cap", "∩", Binary),
    ("cdot", "·", Binary), ("cdots", "⋯", Operand), ("chi", "χ", Letter), ("circ", "∘", Binary),
    ("colon", ":", Point), ("coloneqq", "≔", Relation), ("cong", "≅", Relation), ("coprod", "∐", Large),
    ("cos", "cos", Function), ("cosh", "cosh", Function), ("cot", "cot", Function),
    ("coth", "coth", Function), ("csc", "csc", Function), ("cup", "∪", Binary), ("dashv", "⊣", Relation),
    ("ddots", "⋱", Operand), ("deg", "deg", Function), ("degree", "°", Operand), ("delta", "δ", Letter),
    ("det", "det", Function), ("dim", "dim", Function), ("div", "÷", Binary), ("doteq", "≐", Relation),
    ("dots", "…", Operand), ("dotsb", "⋯", Operand), ("dotsc", "…", Operand), ("downarrow", "↓", Relation),
    ("ell", "ℓ", Letter), ("emptyset", "∅", Letter), ("epsilon", "ϵ", Letter), ("equiv", "≡", Relation),
    ("eta", "η", Letter), ("exists", "∃", Letter), ("exp", "exp", Function), ("forall", "∀", Letter),
    ("gamma", "γ", Letter), ("gcd", "gcd", Function), ("ge", "≥", Relation), ("geq", "≥", Relation),
    ("geqslant", "⩾", Relation), ("gets", "←", Relation), ("gg", "≫", Relation), ("gtrsim", "≳", Relation),
    ("hbar", "ℏ", Letter), ("hom", "hom", Function), ("hookleftarrow", "↩", Relation),
    ("hookrightarrow", "↪", Relation), ("iff", "⟺", Relation), ("iiint", "∭", Large), ("iint", "∬", Large),
    ("imath", "ı", Letter), ("impliedby", "⟸", Relation), ("implies", "⟹", Relation),
    ("in", "∈", Relation), ("inf", "inf", Function), ("infty", "∞", Letter), ("int", "∫", Large),
    ("iota", "ι", Letter), ("jmath", "ȷ", Letter), ("kappa", "κ", Letter), ("ker", "ker", Function),
    ("lVert", "‖", Open), ("lambda", "λ", Letter), ("land", "∧", Binary), ("langle", "⟨", Open),
    ("lbrace", "{", Open), ("lbrack", "[", Open), ("lceil", "⌈", Open), ("ldots", "…", Operand),
    ("le", "≤", Relation), ("leadsto", "⇝", Relation), ("leftarrow", "←", Relation),
    ("leftrightarrow", "↔", Relation), ("leq", "≤", Relation), ("leqslant", "⩽", Relation),
    ("lesssim", "≲", Relation), ("lfloor", "⌊", Open), ("lg", "lg", Function), ("lim", "lim", Function),
    ("liminf", "lim inf", Function), ("limsup", "lim sup", Function), ("ll", "≪", Relation),
    ("ln", "ln", Function), ("lnot", "¬", Letter), ("log", "log", Function),
    ("longleftarrow", "⟵", Relation), ("longleftrightarrow", "⟷", Relation), ("longmapsto", "⟼", Relation),
    ("longrightarrow", "⟶", Relation), ("lor", "∨", Binary), ("ltimes", "⋉", Binary), ("lvert", "|", Open),
    ("mapsto", "↦", Relation), ("max", "max", Function), ("mid", "|", Relation), ("min", "min", Function),
    ("models", "⊨", Relation), ("mp", "∓", Binary), ("mu", "μ", Letter), ("nabla", "∇", Letter),
    ("ne", "≠", Relation), ("nearrow", "↗", Relation), ("neg", "¬", Letter), ("neq", "≠", Relation),
    ("nexists", "∄", Letter), ("ni", "∋", Relation), ("nmid", "∤", Relation), ("notin", "∉", Relation),
    ("nparallel", "∦", Relation), ("nsubseteq", "⊈", Relation), ("nsupseteq", "⊉", Relation),
    ("nu", "ν", Letter), ("nwarrow", "↖", Relation), ("odot", "⊙", Binary), ("oint", "∮", Large),
    ("omega", "ω", Letter), ("omicron", "ο", Letter), ("ominus", "⊖", Binary), ("oplus", "⊕", Binary),
    ("oslash", "⊘", Binary), ("otimes", "⊗", Binary), ("parallel", "∥", Relation),
    ("partial", "∂", Letter), ("perp", "⟂", Relation), ("phi", "ϕ", Letter), ("pi", "π", Letter),
    ("pm", "±", Binary), ("prec", "≺", Relation), ("preceq", "⪯", Relation), ("prime", "′", Operand),
    ("prod", "∏", Large), ("propto", "∝", Relation), ("psi", "ψ", Letter), ("rVert", "‖", Close),
    ("rangle", "⟩", Close), ("rbrace", "}", Close), ("rbrack", "]", Close), ("rceil", "⌉", Close),
    ("rfloor", "⌋", Close), ("rho", "ρ", Letter), ("rightarrow", "→", Relation),
    ("rightharpoonup", "⇀", Relation), ("rightleftharpoons", "⇌", Relation),
    ("rightsquigarrow", "⇝", Relation), ("rtimes", "⋊", Binary), ("rvert", "|", Close),
    ("searrow", "↘", Relation), ("sec", "sec", Function), ("setminus", "∖", Binary),
    ("sigma", "σ", Letter), ("sim", "∼", Relation), ("simeq", "≃", Relation), ("sin", "sin", Function),
    ("sinh", "sinh", Function), ("sqcap", "⊓", Binary), ("sqcup", "⊔", Binary),
    ("sqsubseteq", "⊑", Relation), ("sqsupseteq", "⊒", Relation), ("square", "□", Letter),
    ("star", "⋆", Binary), ("subset", "⊂", Relation), ("subseteq", "⊆", Relation),
    ("subsetneq", "⊊", Relation), ("succ", "≻", Relation), ("succeq", "⪰", Relation), ("sum", "∑", Large),
    ("sup", "sup", Function), ("supset", "⊃", Relation), ("supseteq", "⊇", Relation),
    ("supsetneq", "⊋", Relation), ("swarrow", "↙", Relation), ("tan", "tan", Function),
    ("tanh", "tanh", Function), ("tau", "τ", Letter), ("theta", "θ", Letter), ("times", "×", Binary),
    ("to", "→", Relation), ("top", "⊤", Letter), ("triangle", "△", Letter), ("triangleq", "≜", Relation),
    ("twoheadrightarrow", "↠", Relation), ("uparrow", "↑", Relation), ("updownarrow", "↕", Relation),
    ("uplus", "⊎", Binary), ("upsilon", "υ", Letter), ("vDash", "⊨", Relation),
    ("varepsilon", "ε", Letter), ("varnothing", "∅", Letter), ("varphi", "φ", Letter),
    ("varpi", "ϖ", Letter), ("varrho", "ϱ", Letter), ("varsigma", "ς", Letter), ("vartheta", "ϑ", Letter),
    ("vdash", "⊢", Relation), ("vdots", "⋮", Operand), ("vee", "∨", Binary), ("vert", "|", Bar),
    ("wedge", "∧", Binary), ("wp", "℘", Letter), ("xi", "ξ", Letter), ("zeta", "ζ", Letter),
];

/// Commands that change size, style or position only, sorted.
#[rustfmt::skip]
const IGNORED: &[&str] = &[
    "!", "Big", "Bigg", "Biggl", "Biggm", "Biggr", "Bigl", "Bigm", "Bigr", "big", "bigg", "biggl", "biggm", "biggr",
    "bigl", "bigm", "bigr", "displaystyle", "limits", "mathit", "mathnormal", "mathrm", "nolimits", "textstyle",
];

pub fn find_symbol(name: &str) -> Option<(&'static str, AtomClass)> {
    let index = SYMBOLS.binary_search_by_key(&name, |(known, ..)| known).ok()?;
    SYMBOLS.get(index).map(|(_, text, class)| (*text, *class))
}

pub fn is_ignored(name: &str) -> bool {
    IGNORED.binary_search(&name).is_ok()
}

/// Returns the blank of a command.
pub fn find_space(name: &str) -> Option<&'static str> {
    match name {
        "," | ":" | ";" | ">" | " " | "\n" | "thinspace" | "enspace" => Some(" "),
        "quad" => Some("  "),
        "qquad" => Some("    "),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn the_tables_are_sorted_and_a_symbol_is_one_column() {
        assert!(SYMBOLS.is_sorted_by_key(|(name, ..)| name), "a name is found by halves");
        assert!(IGNORED.is_sorted());
        for (name, text, class) in SYMBOLS {
            let is_word = *class == Function || *name == "bmod";
            assert!(is_word || text.width() == 1 && text.chars().count() == 1, "{name} {text}");
            assert_eq!(find_symbol(name), Some((*text, *class)));
            assert!(!is_ignored(name) && find_space(name).is_none(), "{name}");
        }
        assert_eq!(find_symbol("hat"), None);
    }
}
