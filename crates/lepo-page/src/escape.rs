//! Text as HTML: characters with a meaning to a browser are escaped, and control characters made visible.

/// Appends a text for use between tags, where only `<` and `&` are special; escaping quotes as well makes a page full
/// of them a tenth larger.
pub fn escape(text: &str, html: &mut String) {
    escape_those(text, &SPECIAL, html);
}

/// Appends a text for use within an attribute in double quotes.
pub fn escape_attribute(text: &str, html: &mut String) {
    escape_those(text, &SPECIAL_QUOTED, html);
}

fn escape_those(text: &str, special: &[bool; 256], html: &mut String) {
    let bytes = text.as_bytes();
    let mut plain = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if !special[usize::from(*byte)] {
            continue;
        }
        // A special byte is ASCII, so both offsets are character boundaries.
        html.push_str(text.get(plain..at).unwrap_or_default());
        plain = at + 1;
        match byte {
            b'&' => html.push_str("&amp;"),
            b'<' => html.push_str("&lt;"),
            b'>' => html.push_str("&gt;"),
            b'"' => html.push_str("&quot;"),
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => {}
            b'\r' => html.push('\n'),
            0x7f => html.push('␡'),
            control => html.extend(char::from_u32(0x2400 + u32::from(*control))),
        }
    }
    html.push_str(text.get(plain..).unwrap_or_default());
}

/// Returns the escaped form of a short text, for use in attributes too.
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 8);
    escape_attribute(text, &mut html);
    html
}

const SPECIAL: [bool; 256] = special(b"&<");
const SPECIAL_QUOTED: [bool; 256] = special(b"&<>\"");

const fn special(signs: &[u8]) -> [bool; 256] {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 32 {
        special[byte] = byte != b'\n' as usize && byte != b'\t' as usize;
        byte += 1;
    }
    special[0x7f] = true;
    let mut sign = 0;
    while sign < signs.len() {
        special[signs[sign] as usize] = true;
        sign += 1;
    }
    special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        for (text, html) in [
            ("plain 한글\n\tx", "plain 한글\n\tx"),
            ("<a href=\"x\" b='y'>&amp;", "&lt;a href=&quot;x&quot; b='y'&gt;&amp;amp;"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("\0\u{1b}[31m\u{7f}", "␀␛[31m␡"),
            ("", ""),
        ] {
            assert_eq!(escaped(text), html, "{text:?}");
            let mut between = String::new();
            escape(text, &mut between);
            assert_eq!(between, html.replace("&quot;", "\"").replace("&gt;", ">"), "{text:?}");
        }
    }
}
