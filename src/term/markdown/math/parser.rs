//! Parses the source of a formula into atoms, with an explicit stack instead of recursion, because a model decides how
//! deep a formula is nested.

use super::atoms::{Atom, join};
use super::scripts::{ScriptKind, to_double_struck};
use super::symbols::{AtomClass, find_space, find_symbol, is_ignored};

/// Limits nesting: each level copies the text of the inner one.
const DEEPEST: usize = 32;

/// A construct that is not complete.
enum OpenPart {
    /// The formula or `{`, with its atoms.
    Group(Vec<Atom>),
    /// `\left`, with the atoms from its delimiter on.
    Fence(Vec<Atom>),
    /// A fraction, possibly with its numerator, and whether a blank is before it.
    Fraction(Option<Vec<Atom>>, bool),
    /// A root with its sign, and whether a blank is before it.
    Root(char, bool),
    Script(ScriptKind),
    Modulus,
}

struct MathParser<'s> {
    rest: &'s str,
    open: Vec<OpenPart>,
    /// Whether a blank was read since the last atom.
    has_space: bool,
}

/// Writes a formula in Unicode; `None` if a part of it cannot be written so.
pub fn parse(source: &str) -> Option<String> {
    let open = vec![OpenPart::Group(Vec::new())];
    let mut parser = MathParser { rest: source, open, has_space: false };
    while let Some(c) = parser.rest.chars().next() {
        let (token, rest) = parser.rest.split_at_checked(c.len_utf8())?;
        parser.rest = rest;
        parser.read(c, token)?;
        if parser.open.len() > DEEPEST {
            return None;
        }
    }
    match parser.open.as_slice() {
        [OpenPart::Group(atoms)] => join(atoms),
        _ => None,
    }
}

impl<'s> MathParser<'s> {
    fn read(&mut self, c: char, token: &str) -> Option<()> {
        match c {
            '\\' => self.command(),
            '{' => {
                let is_argument = self.atoms().is_none();
                self.has_space &= !is_argument;
                self.open.push(OpenPart::Group(Vec::new()));
                Some(())
            }
            '}' => match self.open.pop()? {
                OpenPart::Group(atoms) if !self.open.is_empty() => {
                    let is_empty = atoms.is_empty();
                    self.has_space = false;
                    match (self.open.last()?, is_empty) {
                        (OpenPart::Group(_) | OpenPart::Fence(_), true) => self.add("", AtomClass::Empty),
                        _ => self.deliver(atoms),
                    }
                }
                _ => None,
            },
            '^' => self.script(ScriptKind::Raised),
            '_' => self.script(ScriptKind::Lowered),
            '\'' => self.atoms()?.last_mut()?.add_prime(),
            '\n' if self.open.len() == 1 => {
                self.has_space = false;
                let (blanks, rest) =
                    self.rest.split_at(self.rest.len() - self.rest.trim_start_matches(' ').len());
                self.rest = rest;
                self.add(&format!("\n{blanks}"), AtomClass::LineEnd)
            }
            '~' => self.add(" ", AtomClass::Space),
            ' ' | '\t' | '\n' => {
                self.has_space = true;
                Some(())
            }
            // A comment, a parameter, a column and code have no sign of their own here.
            '%' | '#' | '&' | '$' | '`' => None,
            '0'..='9' => self.number(token),
            '(' | '[' => self.add(token, AtomClass::Open),
            ')' | ']' => self.add(token, AtomClass::Close),
            '|' => self.add(token, AtomClass::Bar),
            ',' | ';' | '.' => self.add(token, AtomClass::Point),
            '!' => self.add(token, AtomClass::Postfix),
            '+' | '-' | '*' | '/' | '=' | '<' | '>' | ':' | '?' | '"' | '@' => {
                self.add(token, AtomClass::Sign)
            }
            _ => self.add(token, AtomClass::Operand),
        }
    }

    /// The atoms of the innermost group; `None` if a command awaits its argument.
    fn atoms(&mut self) -> Option<&mut Vec<Atom>> {
        match self.open.last_mut()? {
            OpenPart::Group(atoms) | OpenPart::Fence(atoms) => Some(atoms),
            _ => None,
        }
    }

    fn add(&mut self, text: &str, class: AtomClass) -> Option<()> {
        let has_space = std::mem::take(&mut self.has_space);
        self.deliver(vec![Atom::new(text, class).with_space(has_space)])
    }

    /// Completes what awaits `item` as an argument, or adds it to its group.
    fn deliver(&mut self, mut item: Vec<Atom>) -> Option<()> {
        loop {
            if let Some(atoms) = self.atoms() {
                atoms.append(&mut item);
                return Some(());
            }
            item = match self.open.pop()? {
                OpenPart::Fraction(None, has_space) => {
                    self.open.push(OpenPart::Fraction(Some(item), has_space));
                    return Some(());
                }
                OpenPart::Fraction(Some(numerator), has_space) => {
                    vec![Atom::fraction(&numerator, &item)?.with_space(has_space)]
                }
                OpenPart::Root(sign, has_space) => vec![Atom::root(sign, &item)?.with_space(has_space)],
                OpenPart::Script(kind) => return self.atoms()?.last_mut()?.add_script(kind, &item),
                OpenPart::Modulus => {
                    let open = Atom::new("(mod ", AtomClass::Open).with_space(true);
                    [vec![open], item, vec![Atom::new(")", AtomClass::Close)]].concat()
                }
                OpenPart::Group(_) | OpenPart::Fence(_) => return None,
            };
        }
    }

    fn script(&mut self, kind: ScriptKind) -> Option<()> {
        self.has_space = false;
        // A name with `_` in it, or `x^10`: its author meant more than the one character that LaTeX takes.
        let is_long = |class: fn(&char) -> bool| {
            let next = self.rest.chars().take(2).filter(class).count();
            next == 2
        };
        if is_long(char::is_ascii_alphabetic) || is_long(char::is_ascii_digit) {
            return None;
        }
        self.atoms()?.last()?;
        self.open.push(OpenPart::Script(kind));
        Some(())
    }

    /// Reads a number, of which an argument without braces takes one digit.
    fn number(&mut self, first: &str) -> Option<()> {
        if self.atoms().is_none() {
            return self.add(first, AtomClass::Operand);
        }
        let is_digit = |c: char| c.is_ascii_digit();
        let mut length = self.rest.find(|c: char| !is_digit(c)).unwrap_or(self.rest.len());
        let after = self.rest.get(length..)?;
        if let Some(decimals) = after.strip_prefix('.').filter(|after| after.starts_with(is_digit)) {
            length += 1 + decimals.find(|c: char| !is_digit(c)).unwrap_or(decimals.len());
        }
        let (number, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        self.add(&format!("{first}{number}"), AtomClass::Operand)
    }

    fn command(&mut self) -> Option<()> {
        let letters = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let length = if letters > 0 { letters } else { self.rest.chars().next()?.len_utf8() };
        let (name, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        match name {
            "_" | "%" | "$" | "#" | "&" => return self.add(name, AtomClass::Operand),
            "{" | "}" | "|" => {
                let class = [AtomClass::Open, AtomClass::Close, AtomClass::Bar];
                let index = ["{", "}", "|"].iter().position(|sign| *sign == name)?;
                return self.add(if name == "|" { "‖" } else { name }, *class.get(index)?);
            }
            // The line ends in the source too.
            "\\" if self.open.len() == 1 && self.rest.trim_start_matches(' ').starts_with('\n') => {
                return Some(());
            }
            _ => {}
        }
        if let Some(space) = find_space(name) {
            return self.add(space, AtomClass::Space);
        }
        if is_ignored(name) {
            return Some(());
        }
        match name {
            "frac" | "dfrac" | "tfrac" => {
                let has_space = std::mem::take(&mut self.has_space);
                self.open.push(OpenPart::Fraction(None, has_space));
            }
            "sqrt" => {
                let sign = self.root_sign()?;
                let has_space = std::mem::take(&mut self.has_space);
                self.open.push(OpenPart::Root(sign, has_space));
            }
            "pmod" => self.open.push(OpenPart::Modulus),
            "left" => {
                self.atoms()?;
                self.open.push(OpenPart::Fence(Vec::new()));
                return self.fence_end(AtomClass::Open);
            }
            "right" => {
                let OpenPart::Fence(atoms) = self.open.pop()? else { return None };
                self.deliver(atoms)?;
                return self.fence_end(AtomClass::Close);
            }
            "middle" => return self.fence_end(AtomClass::Bar),
            "text" | "operatorname" | "mathbb" => return self.raw(name),
            _ => {
                let (text, class) = find_symbol(name)?;
                return self.add(text, class);
            }
        }
        Some(())
    }

    fn root_sign(&mut self) -> Option<char> {
        let Some(index) = self.rest.strip_prefix('[') else { return Some('√') };
        let (index, rest) = index.split_once(']')?;
        self.rest = rest;
        match index.trim() {
            "2" => Some('√'),
            "3" => Some('∛'),
            "4" => Some('∜'),
            _ => None,
        }
    }

    /// Reads the delimiter after `\left` or `\right`; a point means no delimiter.
    fn fence_end(&mut self, class: AtomClass) -> Option<()> {
        let text = self.rest.trim_start_matches(' ');
        let first = text.chars().next()?;
        let (name, rest) = match text.strip_prefix('\\') {
            None => text.split_at_checked(first.len_utf8())?,
            Some(command) => {
                let letters = command.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(command.len());
                command.split_at_checked(letters.max(1))?
            }
        };
        self.rest = rest;
        let sign = match (name, first) {
            (".", _) => return Some(()),
            ("|", '\\') => "‖",
            ("(" | ")" | "[" | "]" | "|" | "/", _) => name,
            ("<", _) => "⟨",
            (">", _) => "⟩",
            ("{" | "}", '\\') => name,
            (name, '\\') => find_symbol(name)?.0,
            _ => return None,
        };
        self.add(sign, class)
    }

    /// Reads an argument in braces verbatim.
    fn raw(&mut self, command: &str) -> Option<()> {
        if command == "operatorname" {
            self.rest = self.rest.strip_prefix('*').unwrap_or(self.rest);
        }
        let (text, rest) = match self.rest.trim_start_matches(' ').strip_prefix('{') {
            Some(inner) => inner.split_once('}')?,
            None if command == "mathbb" => {
                let text = self.rest.trim_start_matches(' ');
                text.split_at_checked(text.chars().next()?.len_utf8())?
            }
            None => return None,
        };
        self.rest = rest;
        if command == "mathbb" {
            let letters: Option<String> = text.trim().chars().map(to_double_struck).collect();
            return self.add(&letters.filter(|letters| !letters.is_empty())?, AtomClass::Operand);
        }
        // Signs after a backslash are text; another formula is not.
        let mut shown = text.replace("\\_", "_").replace('\n', " ");
        ["\\%", "\\&", "\\#"]
            .iter()
            .for_each(|sign| shown = shown.replace(sign, sign.trim_start_matches('\\')));
        if command == "operatorname" {
            shown = shown.replace("\\,", " ");
        }
        if shown.contains(['\\', '$', '{', '`']) || shown.is_empty() {
            return None;
        }
        self.add(&shown, if command == "text" { AtomClass::Operand } else { AtomClass::Function })
    }
}
