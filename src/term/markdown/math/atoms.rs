//! The parts of a formula, and how they are written next to each other on one line.

use super::scripts::{ScriptKind, to_script};
use super::symbols::AtomClass;

/// How an atom's text must be bracketed next to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtomForm {
    Whole,
    Fraction,
    /// A root of one letter or number, without brackets.
    Root,
}

#[derive(Debug, Clone)]
pub struct Atom {
    text: String,
    class: AtomClass,
    form: AtomForm,
    primes: usize,
    lowered: String,
    raised: String,
    /// Whether the source has a blank before it.
    has_space: bool,
}

impl Atom {
    pub fn new(text: impl Into<String>, class: AtomClass) -> Atom {
        let (lowered, raised) = (String::new(), String::new());
        Atom { text: text.into(), class, form: AtomForm::Whole, primes: 0, lowered, raised, has_space: false }
    }

    pub fn with_space(self, has_space: bool) -> Atom {
        Atom { has_space, ..self }
    }

    /// Returns `numerator/denominator`, with brackets around what a reader would else take apart.
    pub fn fraction(numerator: &[Atom], denominator: &[Atom]) -> Option<Atom> {
        let (above, below) = (join(numerator)?, join(denominator)?);
        if above.trim().is_empty() || below.trim().is_empty() {
            return None;
        }
        let above = if is_product(numerator) { above } else { format!("({above})") };
        let below = if is_unit(denominator) { below } else { format!("({below})") };
        Some(Atom { form: AtomForm::Fraction, ..Atom::new(format!("{above}/{below}"), AtomClass::Operand) })
    }

    /// Returns a root with the sign of its index, which is written without brackets over one letter or number.
    pub fn root(sign: char, radicand: &[Atom]) -> Option<Atom> {
        let text = join(radicand)?;
        let is_short = matches!(radicand, [only] if only.is_bare() && only.form == AtomForm::Whole);
        let is_one =
            is_short && (text.chars().count() == 1 || text.bytes().all(|byte| byte.is_ascii_digit()));
        match (text.trim().is_empty(), is_one) {
            (true, _) => None,
            (false, true) => {
                Some(Atom { form: AtomForm::Root, ..Atom::new(format!("{sign}{text}"), AtomClass::Operand) })
            }
            (false, false) => Some(Atom::new(format!("{sign}({text})"), AtomClass::Operand)),
        }
    }

    /// Adds a script; `None` if it has one there, or Unicode lacks a character.
    pub fn add_script(&mut self, kind: ScriptKind, script: &[Atom]) -> Option<()> {
        let text = to_script(&join(script)?, kind)?;
        let own = match kind {
            ScriptKind::Raised => &mut self.raised,
            ScriptKind::Lowered => &mut self.lowered,
        };
        let can_have = !matches!(
            self.class,
            AtomClass::Relation
                | AtomClass::Binary
                | AtomClass::Sign
                | AtomClass::Open
                | AtomClass::Point
                | AtomClass::Space
                | AtomClass::LineEnd
        );
        (own.is_empty() && can_have).then(|| *own = text)
    }

    /// Adds a prime; `None` where it would not be read as one.
    pub fn add_prime(&mut self) -> Option<()> {
        self.primes += 1;
        (self.is_operand() && self.raised.is_empty()).then_some(())
    }

    fn is_bare(&self) -> bool {
        self.primes == 0 && self.lowered.is_empty() && self.raised.is_empty()
    }

    fn is_operand(&self) -> bool {
        use AtomClass::{Bar, Close, Letter, Operand, Postfix};
        matches!(self.class, Letter | Operand | Close | Postfix | Bar)
    }

    /// Whether it would bind to a fraction or a root after it, or before it.
    fn binds(&self, is_before: bool) -> bool {
        use AtomClass::{Empty, Function, Large, Letter, Open, Operand, Postfix};
        match is_before {
            true => {
                let is_divisor = matches!(self.text.as_str(), "/" | "÷" | "mod");
                self.is_operand() || is_divisor || self.class == Function
            }
            false => {
                matches!(self.class, Letter | Operand | Open | Function | Large | Postfix | Empty)
                    || self.text == "/"
            }
        }
    }

    fn is_shown(&self) -> bool {
        !matches!(self.class, AtomClass::Space | AtomClass::LineEnd)
    }
}

/// Writes atoms on one line, or on the lines of the source.
pub fn join(atoms: &[Atom]) -> Option<String> {
    let mut text = String::new();
    let mut is_tight = false;
    for (i, atom) in atoms.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|before| atoms.get(before));
        if let Some(before) = before
            && (is_apart(before, atom, is_tight) || !is_tight && is_spaced(before, atom))
            && !text.ends_with([' ', '\n'])
            && !atom.text.starts_with(' ')
        {
            text.push(' ');
        }
        // A sign of two operands at the start of a term is a sign of one.
        is_tight = atom.class == AtomClass::Binary && !before.is_some_and(Atom::is_operand);
        let close = |other: Option<&Atom>, is_before| {
            let other = other.filter(|other| other.is_shown());
            other.is_some_and(|other| other.binds(is_before))
        };
        let next = atoms.get(i + 1);
        let past_space = || atoms.iter().skip(i + 1).find(|atom| atom.class != AtomClass::Space);
        let needs_brackets = !atom.is_bare()
            || match atom.form {
                AtomForm::Whole => false,
                AtomForm::Fraction => {
                    let last = atoms.iter().take(i).rfind(|atom| atom.class != AtomClass::Space);
                    close(last, true) || close(past_space(), false)
                }
                AtomForm::Root => close(next.filter(|next| !next.has_space), false),
            };
        match (atom.form, needs_brackets) {
            (AtomForm::Whole, _) | (_, false) => text.push_str(&atom.text),
            (AtomForm::Root, true) if atom.is_bare() => {
                let (sign, radicand) = atom.text.split_at_checked(atom.text.chars().next()?.len_utf8())?;
                text.push_str(&format!("{sign}({radicand})"));
            }
            (_, true) => text.push_str(&format!("({})", atom.text)),
        }
        text.extend(std::iter::repeat_n('′', atom.primes));
        text.push_str(&atom.lowered);
        text.push_str(&atom.raised);
        // Roots of a sum end with a bracket, which would seem to belong to the root alone.
        let is_long_root = atom.text.starts_with(['√', '∛', '∜']) && atom.form == AtomForm::Whole;
        if is_long_root && !atom.is_bare() || atom.class == AtomClass::Empty && atom.is_bare() && i > 0 {
            return None;
        }
    }
    Some(text)
}

/// Whether a space separates two atoms by their class.
fn is_apart(before: &Atom, atom: &Atom, is_tight: bool) -> bool {
    use AtomClass::{Binary, Function, Large, Letter, LineEnd, Open, Operand, Point, Relation, Space};
    if !before.is_shown() || !atom.is_shown() || before.class == Open {
        return false;
    }
    match (before.class, atom.class) {
        (_, Point | AtomClass::Close | LineEnd | Space) => false,
        (Relation, _) | (_, Relation) => true,
        (Binary, _) => !is_tight,
        (_, Binary) => before.is_operand(),
        (Function, _) if atom.form == AtomForm::Fraction => false,
        (Function, Letter | Operand | Function | Large) => true,
        (Large, Letter | Operand | Function) => true,
        (_, Function) => before.is_operand(),
        _ => false,
    }
}

/// Whether a blank of the source separates two atoms.
fn is_spaced(before: &Atom, atom: &Atom) -> bool {
    let is_letter = matches!(atom.class, AtomClass::Letter | AtomClass::Operand);
    let is_end_of_name = before.class == AtomClass::Letter && before.is_bare() && is_letter;
    let is_inside = before.class == AtomClass::Open || atom.class == AtomClass::Close;
    atom.has_space && !is_inside && before.is_shown() && atom.is_shown() && !is_end_of_name
}

/// Whether a reader takes `atoms/…` for a quotient of all of them.
fn is_product(atoms: &[Atom]) -> bool {
    let mut depth = 0usize;
    for atom in atoms {
        match atom.class {
            AtomClass::Open => depth += 1,
            AtomClass::Close if depth == 0 => return false,
            AtomClass::Close => depth -= 1,
            _ if depth > 0 => {}
            AtomClass::Letter | AtomClass::Operand | AtomClass::Postfix => {
                let has_blank = atom.text.contains([' ', '(']) && !atom.text.starts_with(['√', '∛', '∜']);
                if atom.form == AtomForm::Fraction || has_blank {
                    return false;
                }
            }
            _ => return false,
        }
    }
    let spaced = |pair: &[Atom]| matches!(pair, [before, atom] if is_spaced(before, atom));
    depth == 0 && !atoms.windows(2).any(spaced)
}

/// Whether a reader takes `…/atoms` for a quotient by all of them.
fn is_unit(atoms: &[Atom]) -> bool {
    match atoms {
        [only] => only.form != AtomForm::Fraction && !only.text.contains(' ') && only.is_operand(),
        // The sign of a derivative and its variable.
        [sign, variable] if matches!(sign.text.as_str(), "d" | "∂") && sign.is_bare() => {
            variable.is_operand() && variable.text.chars().count() == 1 && variable.form == AtomForm::Whole
        }
        [operand, factorial] if factorial.class == AtomClass::Postfix => {
            is_unit(std::slice::from_ref(operand))
        }
        [open, inner @ .., close] => {
            let is_bracket = |atom: &Atom| matches!(atom.class, AtomClass::Open | AtomClass::Close);
            open.class == AtomClass::Open && close.class == AtomClass::Close && !inner.iter().any(is_bracket)
        }
        _ => false,
    }
}
