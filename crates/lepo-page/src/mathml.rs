//! Sets formulas as MathML. The crate that converts LaTeX is trusted with nothing: deep nesting, which would overflow its
//! stack, is rejected before, and elements, attributes and values that are not in the lists of this file after.

use math_core::{LatexToMathML, MathCoreConfig, MathDisplay};

use super::escape::escape_attribute;

/// Limits a formula, in bytes.
const LONGEST: usize = 16 << 10;

/// Limits nesting. The converter recurses, and with 2 MiB of stack it gets as far as 40 fractions in a debug build.
const DEEPEST: usize = 24;

/// Bytes of MathML for a byte of the source, above which a formula would swell the page.
const LARGEST: usize = 64;

/// Largest length, in any unit.
const WIDEST: f64 = 20.0;

const ELEMENTS: &str = "math mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt \
    msub msubsup msup mtable mtd mtext mtr munder munderover";

const ATTRIBUTES: &str = "accent accentunder columnspan depth display displaystyle fence form height largeop linethickness \
    lspace mathvariant maxsize minsize movablelimits rowspan rspace scriptlevel separator stretchy symmetric voffset width";

/// A converter with its tables, for all formulas of a page.
pub struct MathMlWriter {
    converter: Option<LatexToMathML>,
}

impl MathMlWriter {
    pub fn new() -> MathMlWriter {
        MathMlWriter { converter: LatexToMathML::new(MathCoreConfig::default()).ok() }
    }

    /// Appends a formula with its source as a title; false if it cannot be set.
    pub fn write(&self, source: &str, is_display: bool, html: &mut String) -> bool {
        let Some(mathml) = self.convert(source, is_display) else { return false };
        html.push_str(if is_display { "<span class=\"m mb\" title=\"" } else { "<span class=m title=\"" });
        escape_attribute(source, html);
        html.push_str("\">");
        html.push_str(&mathml);
        html.push_str("</span>");
        true
    }

    fn convert(&self, source: &str, is_display: bool) -> Option<String> {
        let is_safe = source.len() <= LONGEST && is_shallow(source) && !loses_text(source);
        let display = if is_display { MathDisplay::Block } else { MathDisplay::Inline };
        let converter = self.converter.as_ref().filter(|_| is_safe)?;
        let mathml = converter.convert_with_local_state(source, display).ok()?.mathml;
        let limit = LARGEST * source.len() + 1024;
        (mathml.len() <= limit).then(|| filter(&mathml)).flatten()
    }
}

/// Whether the source has characters that the converter drops or passes unchanged: comments, control characters, and
/// ends of lines outside a table.
fn loses_text(source: &str) -> bool {
    let mut before = ' ';
    let has_comment = source.chars().any(|c| {
        let is_comment = c == '%' && before != '\\';
        before = if before == '\\' && c == '\\' { ' ' } else { c };
        is_comment
    });
    let has_break = source.contains("\\\\") && !source.contains("\\begin");
    has_comment || has_break || source.contains(|c: char| c.is_control() && c != '\n' && c != '\t')
}

/// Whether no part is deeper than the limit, where each command and script may contain the next one.
fn is_shallow(source: &str) -> bool {
    let (mut outer, mut depth, mut run) = (Vec::new(), 0, 0);
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        let after = rest.get(length..).unwrap_or_default();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let name = if c == '\\' { after.get(..letters).unwrap_or_default() } else { "" };
        match (c, name) {
            ('{', _) | (_, "left" | "begin") => {
                outer.push(depth);
                depth += run + 1;
                run = 0;
            }
            ('}', _) | (_, "right" | "end") => {
                depth = outer.pop().unwrap_or_default();
                run = 0;
            }
            ('\\' | '^' | '_' | '[', _) => run += 1,
            _ if c.is_whitespace() => {}
            _ => run = 0,
        }
        if depth + run > DEEPEST {
            return false;
        }
        if c == '\\' {
            length += if letters > 0 { letters } else { after.chars().next().map_or(0, char::len_utf8) };
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    true
}

/// Copies MathML of which each element and attribute is in the lists; `None` if another one occurs. Styles of tables
/// become classes of the page or are dropped; a colour is the author's, and rejects the formula.
fn filter(mathml: &str) -> Option<String> {
    let mut filtered = String::with_capacity(mathml.len());
    let mut parts = mathml.split('<');
    parts.next().filter(|before| before.is_empty())?;
    for part in parts {
        let (tag, text) = part.split_once('>')?;
        let (end, tag) = tag.strip_prefix('/').map_or(("", tag), |tag| ("/", tag));
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, ""), |tag| (tag, "/"));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        is_among(name, ELEMENTS).then_some(())?;
        filtered.push_str(&format!("<{end}{name}"));
        let mut rest = attributes.trim();
        while !rest.is_empty() {
            let (key, value) = rest.split_once("=\"")?;
            let (value, after) = value.split_once('"')?;
            rest = after.trim_start();
            match key {
                "style" if value.contains("color:") => return None,
                "style" if name == "mtd" && value.contains("text-align: left") => {
                    filtered.push_str(" class=ml")
                }
                "style" if name == "mtd" && value.contains("text-align: right") => {
                    filtered.push_str(" class=mr")
                }
                "style" => {}
                _ if is_among(key, ATTRIBUTES) && is_plain(value) => {
                    filtered.push_str(&format!(" {key}=\"{value}\""));
                }
                _ => return None,
            }
        }
        filtered.push_str(closed);
        filtered.push('>');
        let is_escaped =
            |after: &str| ["lt;", "gt;", "amp;", "quot;", "#"].iter().any(|name| after.starts_with(name));
        text.split('&').skip(1).all(is_escaped).then_some(())?;
        filtered.push_str(text);
    }
    Some(filtered)
}

fn is_among(word: &str, list: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Whether a value is a word or a length that stays within the page.
fn is_plain(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let is_short = number.is_empty() || number.parse().is_ok_and(|length: f64| length.abs() <= WIDEST);
    is_short && value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(source: &str) -> Option<String> {
        MathMlWriter::new().convert(source, false)
    }

    #[test]
    fn formulas_become_mathml_with_their_source_as_title() {
        let mut html = String::new();
        assert!(MathMlWriter::new().write("a \"<\" b^2", true, &mut html));
        assert!(
            html.starts_with(
                "<span class=\"m mb\" title=\"a &quot;&lt;&quot; b^2\"><math display=\"block\">"
            ),
            "{html}"
        );
        for (source, part) in [
            (r"\frac{a}{b}", "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
            (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", "<mtr><mtd><mi>c</mi></mtd>"),
            (r"\begin{cases} 1 & x \\ 2 & y\end{cases}", "<mtd class=ml>"),
            (r"\begin{align} a &= b \end{align}", "<mtd class=mr>"),
            (r"x^T e^{-y} \hat{z}", "<msup><mi>x</mi><mi>T</mi></msup>"),
            (r"\text{<b>}", "&lt;b&gt;"),
            ("a < b", "&lt;"),
            (r"50\%", "<mi>%</mi>"),
            ("가^2", "<mi>가</mi>"),
        ] {
            let made = set(source).unwrap_or_default();
            assert!(made.starts_with("<math>") && made.contains(part), "{source}: {made}");
            assert!(!made.contains(" style="), "{source}: {made}");
        }
    }

    #[test]
    fn what_could_act_or_is_lost_stays_source() {
        for source in [
            r"\href{javascript:alert(1)}{x}",
            r"\url{https://example.org}",
            r"\eqref{<b>}",
            r"\begin{equation}\label{a} x\end{equation}",
            r"\class{evil}{x}",
            r"\style{color:red}{x}",
            r"\cssId{a}{x}",
            r"\htmlId{a}{x}",
            r"\color{red} x",
            r"\textcolor{red}{x}",
            r"\includegraphics{x.png}",
            r"\cancel{x}",
            r"\hspace{100000em}",
            r"\def\a{b}\a",
            r"\unknown",
            r"\frac{a}",
            "a % b",
            r"a \\ b",
            "a # b",
            "a\u{1b}[31m",
        ] {
            assert_eq!(set(source), None, "{source}");
        }
        for hostile in [
            "<math><script>",
            "<math onclick=\"x\">",
            "<math><mi>&x</mi>",
            "x<math>",
            "<math><mi",
            "<math href=x>",
        ] {
            assert_eq!(filter(hostile), None, "{hostile}");
        }
    }

    /// Runs on the stack of a test, 2 MiB.
    #[test]
    fn no_nesting_overflows_the_stack() {
        let forms: [fn(usize) -> String; 12] = [
            |n| "{".repeat(n) + "x" + &"}".repeat(n),
            |n| r"\sqrt".repeat(n) + " x",
            |n| r"\sqrt{".repeat(n) + "x" + &"}".repeat(n),
            |n| r"\left(".repeat(n) + "x" + &r"\right)".repeat(n),
            |n| "x^{".repeat(n) + "x" + &"}".repeat(n),
            |n| "x^".repeat(n) + "x",
            |n| r"\frac{".repeat(n) + "x" + &"}{y}".repeat(n),
            |n| r"\frac\frac".repeat(n) + "x",
            |n| r"\begin{matrix}".repeat(n) + "x" + &r"\end{matrix}".repeat(n),
            |n| r"\hat".repeat(n) + " x",
            |n| r"\text{".repeat(n) + &"}".repeat(n),
            |n| r"\sqrt[".repeat(n) + "x" + &"]{x}".repeat(n),
        ];
        for (i, form) in forms.iter().enumerate() {
            for depth in [2, 8, 12, 23, 24, 100, 2_000] {
                let source = form(depth);
                let made = set(&source);
                assert!(depth < 100 || i == 5 || made.is_none(), "{source}");
            }
        }
        assert!(
            set(&r"\frac{1+"
                .repeat(8)
                .chars()
                .chain("x".chars())
                .chain("}{2}".repeat(8).chars())
                .collect::<String>())
            .is_some()
        );
        assert!(set(&"x_1+".repeat(1_000)).is_some_and(|made| made.len() > 20_000));
        assert_eq!(set(&"x_1+".repeat(5_000)), None, "longer than the limit");
    }
}
