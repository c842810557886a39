//! Tests the contrast of the page's colours by WCAG 2.2: text 4.5 to 1, graphics 3 to 1.

use std::collections::HashMap;

const STYLE: &str = include_str!("page.css");

/// Parses the colours of a block of the style, as red, green and blue.
fn colours(block: &str) -> HashMap<&str, [u8; 3]> {
    let declarations = block.split(['{', ';', '}', '\n']).filter_map(|text| text.trim().strip_prefix("--"));
    let colour = |text: &str| {
        let digits = text.trim().strip_prefix('#').filter(|digits| digits.len() == 6)?;
        let number = u32::from_str_radix(digits, 16).ok()?;
        let [_, rgb @ ..] = number.to_be_bytes();
        Some(rgb)
    };
    declarations.filter_map(|text| text.split_once(':')).filter_map(|(k, v)| Some((k, colour(v)?))).collect()
}

/// Returns the colours of each theme.
fn themes() -> [(&'static str, HashMap<&'static str, [u8; 3]>); 3] {
    let block = |begin: &str| STYLE.split_once(begin).unwrap().1.split_once('}').unwrap().0;
    [
        ("light", colours(block("\n:root {"))),
        ("dark, as the system", colours(block(":root:not([data-theme=light]) {"))),
        ("dark, chosen", colours(block("\n:root[data-theme=dark] {"))),
    ]
}

fn luminance(colour: [u8; 3]) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    let [red, green, blue] = colour.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn the_formula_is_that_of_the_standard() {
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
    assert!((contrast([0x77; 3], [255; 3]) - 4.48).abs() < 0.01);
}

#[test]
fn text_and_drawings_stand_out_in_every_theme() {
    const GROUNDS: [&str; 4] = ["bg", "panel", "tint", "code"];
    let speakers = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
    let text = [&["ink", "soft", "accent"][..], &speakers].concat();
    let mut pairs: Vec<(&str, &str, f64)> = Vec::new();
    for ground in GROUNDS {
        pairs.extend(text.iter().map(|text| (*text, ground, 4.5)));
    }
    pairs.extend(["mark", "new", "old"].map(|ground| ("ink", ground, 4.5)));
    pairs.extend(["bg", "panel"].map(|ground| ("rail", ground, 3.0)));
    let mut low = Vec::new();
    for (theme, colours) in themes() {
        for (front, ground, least) in &pairs {
            let found = contrast(colours[front], colours[ground]);
            if found < *least {
                low.push(format!("{theme}: {front} on {ground} is {found:.2}, not {least}"));
            }
        }
    }
    assert!(low.is_empty(), "{}", low.join("\n"));
}
