//! Secrets that nobody has, made when a test runs: the sources hold none.

/// An example of each kind, as the tests of the finder have them.
#[path = "../../crates/lepo-secrets/src/examples.rs"]
#[allow(dead_code)]
pub mod examples;

/// A token of GitHub's form, its checksum included; another one for each mark.
pub fn github_token(mark: u32) -> String {
    let body = format!("aB3x{mark:04}kQ9zLmN2pR7tVx1YcW5eUf");
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = crc32fast::hash(body.as_bytes()) as usize;
    let mut sum = [0; 6];
    for digit in sum.iter_mut().rev() {
        *digit = digits[rest % 62];
        rest /= 62;
    }
    format!("ghp_{body}{}", String::from_utf8_lossy(&sum))
}

/// A private key of so many lines.
pub fn private_key(lines: usize) -> String {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let (begin, end) = ("-----BEGIN PRIVATE ", "-----END PRIVATE ");
    let body: String = (0..lines).map(|i| format!("{}{i:04}\n", line.split_at(60).0)).collect();
    format!("{begin}KEY-----\n{body}{end}KEY-----")
}

/// An id of AWS, without its key.
pub fn aws_id() -> String {
    format!("AKI{}", "AQW3ERT7YUIOPASDF")
}
