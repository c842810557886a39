//! Tables of texts with and without a secret; a text in pieces is masked like the whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::examples::{all, aws, mixed, pem, random};
use crate::table::{AWS_ID, AWS_KEY, SHAPES, TWILIO};
use crate::*;

pub(crate) fn masker() -> Masker {
    Masker::new(Arc::new(SecretFinder::shapes_only()), Some([7; 32]))
}

/// Masks a text that arrives in `pieces`.
fn streamed(masker: &Masker, pieces: &[&str]) -> String {
    let (mut stream, mut out) = (MaskStream::new(masker.clone()), String::new());
    for piece in pieces {
        stream.push(piece, &mut out);
        assert!(stream.buffered_len() <= LONGEST_HELD, "{} wait", stream.buffered_len());
    }
    stream.finish(&mut out);
    let (_, truths) = stream.into_parts();
    assert_eq!(restore(&out, &truths), pieces.concat());
    out
}

/// Returns texts with a secret of each kind, including kinds without a shape.
pub(crate) fn texts() -> Vec<(&'static str, String, String)> {
    let mut texts: Vec<(&str, String, String)> = all()
        .into_iter()
        .map(|(kind, before, secret, after)| {
            (kind, format!("some words {before}{secret}{after} and more"), secret)
        })
        .collect();
    let (id, key) = aws();
    texts.push((
        AWS_KEY,
        format!("aws_access_key_id = {id}\naws_secret_access_key = {key}\nregion"),
        key.clone(),
    ));
    texts.push((AWS_KEY, format!("SECRET={key}\nREGION=x\nID={id}\n"), key.clone()));
    texts.push((AWS_KEY, format!("{{\"AccessKeyId\":\"{id}\",\"SecretAccessKey\":\"{key}\"}}"), key));
    texts
}

#[test]
fn every_kind_of_the_table_has_an_example_that_is_found() {
    let mut seen = BTreeSet::new();
    for (kind, text, secret) in texts() {
        let found = SecretFinder::shapes_only().find(text.as_bytes());
        let kinds: Vec<&str> = found.iter().map(|found| found.kind).collect();
        let this = found.iter().find(|found| found.kind == kind);
        let this = this.unwrap_or_else(|| panic!("{kind} is not found, only {kinds:?}: {text}"));
        assert_eq!(text.get(this.span.clone()), Some(secret.as_str()), "{kind}");
        assert!(found.iter().all(|found| found.kind == kind || kind == AWS_KEY), "{kind}: {kinds:?}");
        seen.insert(kind);
        let masked = masker().mask(&text).text.into_owned();
        assert!(!masked.contains(&secret) && masked.contains(&format!("[secret: {kind} ")), "{masked}");
        assert_eq!(masker().mask(&masked).secrets, [], "a mask is no secret: {masked}");
    }
    let table: BTreeSet<&str> =
        SHAPES.iter().map(|shape| shape.kind).filter(|kind| *kind != AWS_ID).collect();
    let missing: Vec<&&str> = table.difference(&seen).collect();
    assert!(missing.is_empty() && seen.contains(TWILIO), "{missing:?}");
}

#[test]
fn a_secret_that_is_torn_at_any_byte_is_masked_as_the_whole() {
    let masker = masker();
    for (kind, text, secret) in texts() {
        let whole = masker.mask(&text).text.into_owned();
        for at in 0..=text.len() {
            let (one, other) = text.split_at(at);
            assert_eq!(streamed(&masker, &[one, other]), whole, "{kind} torn at {at}");
        }
        let single: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = single.iter().map(String::as_str).collect();
        assert_eq!(streamed(&masker, &pieces), whole, "{kind} by bytes");
        // No part of the secret is released before its mask.
        let (mut stream, mut out) = (MaskStream::new(masker.clone()), String::new());
        let end = text.find(&secret).unwrap() + secret.len();
        stream.push(text.get(..end - 1).unwrap(), &mut out);
        let begun = secret.get(..secret.len().min(5)).unwrap();
        assert!(!out.ends_with(begun) && !out.contains(secret.get(..9).unwrap()), "{kind}: {out}");
    }
}

#[test]
fn everything_that_begins_no_secret_goes_on_at_once() {
    let masker = masker();
    let (mut stream, mut out) = (MaskStream::new(masker.clone()), String::new());
    for piece in [
        "Hello",
        ", how",
        " are you?",
        " 한국어도",
        " 됩니다.\n",
        "/usr/bin x=1 ",
        "fn main() {}\n",
        "deadbeef",
    ] {
        stream.push(piece, &mut out);
        assert_eq!(stream.buffered_len(), 0, "after {piece:?} {} bytes wait", stream.buffered_len());
    }
    assert_eq!(out, "Hello, how are you? 한국어도 됩니다.\n/usr/bin x=1 fn main() {}\ndeadbeef");
}

#[test]
fn after_a_certain_begin_line_the_mask_is_given_out_and_nothing_more_until_the_end() {
    let masker = masker();
    let key = pem("RSA ", 300);
    let (mut stream, mut out) = (MaskStream::new(masker.clone()), String::new());
    stream.push("before\n", &mut out);
    stream.push(key.get(..400).unwrap(), &mut out);
    let mask = masker.mask(&key).text.into_owned();
    assert_eq!(out, format!("before\n{mask}"));
    for piece in key.get(400..).unwrap().as_bytes().chunks(1000) {
        stream.push(std::str::from_utf8(piece).unwrap(), &mut out);
        assert_eq!(out, format!("before\n{mask}"));
    }
    stream.push("\nafter ", &mut out);
    stream.finish(&mut out);
    assert_eq!(out, format!("before\n{mask}\nafter "));
    assert_eq!(stream.tally().count(), 1);
    // A line without an end must not exceed the limit on withheld bytes.
    let long = format!("-----BEGIN PRIVATE KEY-----\n{}", mixed(3, 30_000));
    let pieces: Vec<&str> =
        long.as_bytes().chunks(777).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    assert!(streamed(&masker, &pieces).starts_with("[secret: private-key "));
}

#[test]
fn a_value_is_found_as_json_writes_it_too() {
    for (value, written) in [
        ("Tr0ub\"4dor", r#"Tr0ub\"4dor"#),
        ("line one\nline 2", r"line one\nline 2"),
        ("back\\slash-9", r"back\\slash-9"),
        ("bell\u{7}and\ttab", r"bell\u0007and\ttab"),
    ] {
        let finder = SecretFinder::new([KnownValue::of_variable("A_TOKEN", value)]);
        let masker = Masker::new(Arc::new(finder), Some([7; 32]));
        let plain = masker.mask(value).text.into_owned();
        assert!(plain.starts_with("[secret: env-value "), "{plain}");
        let text = format!("{{\"command\":\"echo {written} 한\"}}");
        let expected = format!("{{\"command\":\"echo {plain} 한\"}}");
        assert_eq!(masker.mask(&text).text, expected, "with equal digits");
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let (one, other) = text.split_at(at);
            assert_eq!(streamed(&masker, &[one, other]), expected, "{at}");
        }
    }
}

#[test]
fn a_random_token_with_a_word_in_it_is_no_example() {
    let found = |text: &str| SecretFinder::shapes_only().find(text.as_bytes()).len();
    let body = mixed(9, 30);
    for (token, is_one) in [
        (format!("hf_{body}yOuR"), true),
        (format!("hf_a7{body}xxxx"), true),
        (format!("hf_Qyour{body}"), true),
        (format!("hf_your{}", body.get(..28).unwrap()), false),
        (format!("hf_YOUR{}", body.get(..28).unwrap()), false),
        (format!("hf_xxxx{}", body.get(..28).unwrap()), false),
        (format!("glpat-{}-your-key-here", body.get(..20).unwrap()), false),
        (format!("hf_{}example", body.get(..28).unwrap()), false),
        (format!("hf_{}exAmPle", body.get(..28).unwrap()), true),
    ] {
        assert_eq!(found(&token) == 1, is_one, "{token}");
    }
}

#[test]
fn a_shape_wins_over_a_value_and_the_longer_over_the_shorter() {
    let token = all().into_iter().find(|row| row.0 == "anthropic-key").unwrap().2;
    let inner = token.get(20..60).unwrap();
    let values = [
        KnownValue::of_variable("A_TOKEN", inner),
        KnownValue::of_config("the key of model gpt", "conf1gured-key"),
        KnownValue::of_variable("B_KEY", "gured-key and m0re"),
        KnownValue::of_variable("SHORT_KEY", "abc123"),
        KnownValue::of_variable("WORD_KEY", "onlysmallletters"),
    ];
    let finder = SecretFinder::new(values);
    let kinds = |text: &str| {
        finder.find(text.as_bytes()).into_iter().map(|found| (found.kind, found.span)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&format!("x {token} y")), [("anthropic-key", 2..2 + token.len())]);
    assert_eq!(kinds(&format!("x {inner} y")), [("env-value", 2..42)]);
    assert_eq!(kinds("say conf1gured-key"), [("config-key", 4..18)]);
    assert_eq!(kinds("abc123 onlysmallletters"), []);
    let masker = Masker::new(Arc::new(finder), None);
    let text = format!("a {token} b conf1gured-key c gured-key and m0re 한 {inner}");
    let whole = masker.mask(&text).text.into_owned();
    assert_eq!(
        whole,
        "a [secret: anthropic-key] b [secret: config-key] c [secret: env-value] 한 [secret: env-value]"
    );
    for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
        let (one, other) = text.split_at(at);
        assert_eq!(streamed(&masker, &[one, other]), whole, "torn at {at}");
    }
}

#[test]
fn beside_means_within_three_lines() {
    let (id, key) = aws();
    let found = |text: &str| SecretFinder::shapes_only().find(text.as_bytes()).len();
    assert_eq!(found(&format!("{id}\n\n\n{key}")), 2);
    assert_eq!(found(&format!("{id}\n\n\n\n{key}")), 0);
    assert_eq!(found(&format!("k={key}\n\n\n{id}")), 2);
    assert_eq!(found(&format!("k={key}\n\n\n\n{id}")), 0);
    assert_eq!(found(&format!("{id} commit 3f786850e387550fdab836ed7e6dc881de23001b")), 0);
    assert_eq!(SecretFinder::shapes_only().find_with_ids(id.as_bytes()).len(), 1);
    assert_eq!(SecretFinder::shapes_only().find_with_ids(b"AKIAIOSFODNN7EXAMPLE"), []);
    // The id and its key become final together, however long the id is withheld.
    let masker = masker();
    let text = format!("a={key}\nx\n{id}\nb\nc\nd\ne\n");
    let whole = masker.mask(&text).text.into_owned();
    for at in 0..text.len() {
        let (one, other) = text.split_at(at);
        assert_eq!(streamed(&masker, &[one, other]), whole);
    }
}

#[test]
fn what_only_looks_like_a_secret_is_none() {
    let bad = |prefix: &str| format!("{prefix}{}", mixed(1, 36));
    let jwt = "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.";
    let lines = [
        bad("ghp_"),
        bad("npm_"),
        "the task-oriented sk-learn-something-or-other-long-class-name".into(),
        format!("{jwt}{}", mixed(2, 30)),
        "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".into(),
        "Authorization: Bearer $TOKEN_OF_THE_ENVIRONMENT_1".into(),
        "Authorization: Bearer YOUR_API_TOKEN_GOES_HERE_1".into(),
        "https://user:password@host/ https://user:hunter22@example.com/".into(),
        "https://user:pass%5B%7F@foo/ https://%s:%40%41abc@h/ https://me:x-oauth-basic@h/ https://A:THE_PASS_WORD@h/".into(),
        "git@github.com:me/x.git ssh://git@host:22/x".into(),
        "http://[::1]:8080/@x http://localhost:11434/api@v1".into(),
        "3f786850e387550fdab836ed7e6dc881de23001b 550e8400-e29b-41d4-a716-446655440000".into(),
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==".into(),
        format!("hf_model_{}", mixed(3, 20)),
        "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ".into(),
    ];
    for line in lines {
        assert_eq!(SecretFinder::shapes_only().find(line.as_bytes()), [], "{line}");
    }
}

#[test]
fn a_megabyte_of_base64_and_of_hex_holds_none() {
    let alphabets: [&[u8]; 4] = [
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        b"0123456789abcdef",
        b"0123456789ABCDEF",
    ];
    for (seed, alphabet) in (1..).zip(alphabets) {
        let text = random(seed, 1 << 20, alphabet);
        assert_eq!(SecretFinder::shapes_only().find(text.as_bytes()), [], "{seed}");
        let lines: Vec<&str> =
            text.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
        assert_eq!(SecretFinder::shapes_only().find(lines.join("\n").as_bytes()), [], "{seed}");
    }
}

/// Lists the files of a folder, without build products.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            let name = entry.file_name();
            let is_built = [".git", "target", "node_modules"].iter().any(|built| name == *built);
            match entry.file_type().unwrap() {
                kind if kind.is_dir() && !is_built => waiting.push(entry.path()),
                kind if kind.is_file() => all.push(entry.path()),
                _ => {}
            }
        }
    }
}

#[test]
fn this_repository_holds_none() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    files(&root, &mut all);
    assert!(all.iter().any(|path| path.ends_with("Cargo.lock")));
    let finder = SecretFinder::shapes_only();
    let found: Vec<String> = all
        .iter()
        .flat_map(|path| {
            let text = std::fs::read(path).unwrap_or_default();
            let found = finder.find_with_ids(&text);
            let line = |at| text.iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
            found
                .iter()
                .map(|found| format!("{}:{}: {}", path.display(), line(found.span.start), found.kind))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn text_in_pieces_reads_as_the_whole_whatever_the_pieces() {
    let masker = masker();
    let words = [
        "ghp",
        "_",
        "eyJ",
        "://a:",
        "@h",
        "AKIA",
        "\n",
        " ",
        "x=",
        "한",
        "-----BEGIN ",
        "sk-",
        "Q~",
        "SK",
        "AC",
    ];
    for seed in 1..300 {
        let mut text = String::new();
        for i in 0..12 {
            let pick = random(seed * 100 + i, 2, b"0123456789abcdef");
            let pick = usize::from_str_radix(&pick, 16).unwrap();
            match pick % 3 {
                0 => text.push_str(words[pick % words.len()]),
                1 => text.push_str(&texts()[pick % texts().len()].1),
                _ => text.push_str(&mixed(seed + i, 3 + pick % 40)),
            }
        }
        let whole = masker.mask(&text).text.into_owned();
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        let mut step = seed as usize % 7 + 1;
        while !rest.is_empty() {
            step = (step * 5 + 3) % 97 + 1;
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(step.min(rest.len())));
            pieces.push(piece);
            rest = after;
        }
        assert_eq!(streamed(&masker, &pieces), whole, "seed {seed}\n{text}");
    }
}

#[test]
fn equal_secrets_read_equal_and_another_key_reads_differently() {
    let token = all().into_iter().find(|row| row.0 == "gitlab-token").unwrap().2;
    let other = Masker::new(Arc::new(SecretFinder::shapes_only()), Some([8; 32]));
    let text = format!("{token} {token}");
    let masked = masker().mask(&text).text.into_owned();
    let (one, two) = masked.split_at(masked.len() / 2);
    assert_eq!(one, two.trim_start());
    assert_ne!(masked, other.mask(&text).text);
    assert_eq!(without_digits(&masked), without_digits(&other.mask(&text).text));
    assert_eq!(without_digits(&masked), Masker::for_imports().mask(&text).text);
    assert_eq!(
        without_digits("[secret: words and so on] [secret: x 12345]"),
        "[secret: words and so on] [secret: x 12345]"
    );
    // A key has the same digits on lines and in JSON.
    let key = pem("", 26);
    assert_eq!(masker().mask(&key).text, masker().mask(&key.replace('\n', "\\n")).text);
    let mut tally = SecretCounts::default();
    masker().mask(&text).secrets.iter().for_each(|found| tally.add(found));
    masker().mask(&key).secrets.iter().for_each(|found| tally.add(found));
    assert_eq!((tally.count(), tally.kind_list().as_str()), (2, "gitlab-token, private-key"));
}
