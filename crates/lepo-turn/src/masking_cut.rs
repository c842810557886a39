//! Splits a text of which only the start is written.

use super::Masking;
use lepo_secrets::FoundSecret;

/// Splits a text after at most `most` bytes. A secret is never split: half of it could not be recognised when
/// the first part is written.
pub fn cut<'t>(masking: &Masking, text: &'t str, most: usize) -> (&'t str, &'t str) {
    let mut at = text.floor_char_boundary(most);
    if at == text.len() || !masking.masks() {
        return text.split_at(at);
    }
    let finder = masking.masker().finder();
    let secrets = finder.find(text.as_bytes());
    loop {
        let secrets_before = finder.find(text.as_bytes().get(..at).unwrap_or_default());
        let is_lost = |secret: &&FoundSecret| {
            let start = secret.span.start;
            start < at && !secrets_before.iter().any(|found| found.span.contains(&start))
        };
        let is_cut = |secret: &&FoundSecret| secret.span.start < at && at < secret.span.end;
        match secrets.iter().find(|secret| is_cut(secret) || is_lost(secret)) {
            Some(secret) => at = secret.span.start,
            None => return text.split_at(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_cut_off_whole_and_so_is_one_whose_id_is_cut_off() {
        let key = format!("sk-{}-api03-{}", "ant", "aZ7Or0xhGfxTEUQXbx6Ppv9AVlolLA1z");
        let (id, secret) = (
            format!("AKI{}", "AQW3ERT7YUIOPASDF"),
            format!("aZ7Or0xhGfxTEUQXbx6Ppv9AVlolLA1{}", "z/+k3f4gQ"),
        );
        let masking = Masking::shapes_only();
        let texts = [format!("key {key} end"), format!("k={secret}\nid={id}\n"), "한국어 글".to_string()];
        for text in texts {
            for most in 0..text.len() + 2 {
                let (secrets_before, rest) = cut(&masking, &text, most);
                assert_eq!(format!("{secrets_before}{rest}"), text);
                assert!(secrets_before.len() <= most);
                let kept = masking.masked(secrets_before).into_owned();
                for secret in [&key, &secret] {
                    let piece = secret.split_at(9).0;
                    assert!(!kept.contains(piece), "{most}: {kept}");
                }
            }
            assert_eq!(cut(&masking, &text, text.len()).1, "");
        }
        assert_eq!(cut(&masking, "plain words", 5), ("plain", " words"));
    }
}
