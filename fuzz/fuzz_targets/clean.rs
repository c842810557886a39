//! Text for a terminal: nothing in it can speak to the terminal, and pieces make no difference; as it is,
//! and in the form of its Markdown.
#![no_main]

use lepo::term::{Cleaner, Color, Markdown, Paint, clean};
use lepo_turn::config::MathNotation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = (input.0 as usize + 1, input.1);
    let shown = cleaned(bytes.chunks(size));
    assert!(shown.chars().all(is_harmless), "{shown:?}");
    assert_eq!(shown, cleaned([bytes]));
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert_eq!(clean(text), shown);
    }
    for notation in [MathNotation::Unicode, MathNotation::Source] {
        let formed = formed(notation, bytes.chunks(size));
        assert!(formed.chars().all(is_harmless), "{formed:?}");
    }
});

fn cleaned<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> String {
    let (mut cleaner, mut out) = (Cleaner::default(), String::new());
    pieces.into_iter().for_each(|piece| cleaner.push(piece, &mut out));
    cleaner.finish(&mut out);
    out
}

fn formed<'b>(notation: MathNotation, pieces: impl IntoIterator<Item = &'b [u8]>) -> String {
    let paint = Paint::new(Color::Never, true, |_| None);
    let (mut markdown, mut out) = (Markdown::new(paint, notation, || 40), String::new());
    pieces.into_iter().for_each(|piece| markdown.push(piece, &mut out));
    markdown.finish(&mut out);
    out
}

/// No control but newline and tab, no bidirectional control, no invisible tag.
fn is_harmless(c: char) -> bool {
    let bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let tag = matches!(c, '\u{e0000}'..='\u{e007f}');
    (!c.is_control() || matches!(c, '\n' | '\t')) && !bidi && !tag
}
