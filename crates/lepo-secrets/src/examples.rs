//! Fake secrets, built when a test runs, so that the sources contain none. Shares no code with the finder, and is
//! compiled into the end-to-end tests too.

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BECH32: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Returns pseudo-random characters of an alphabet, the same for each `seed`.
pub fn random(seed: u64, len: usize, alphabet: &[u8]) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()])
    };
    (0..len).map(|_| next()).collect()
}

/// Returns letters of both cases and digits.
pub fn mixed(seed: u64, len: usize) -> String {
    format!("aZ7{}", random(seed, len - 3, LETTERS))
}

fn hex(seed: u64, len: usize) -> String {
    random(seed, len, b"0123456789abcdef")
}

/// Returns a prefix, 30 characters, and six digits to the base 62 of their CRC32.
fn with_checksum(prefix: &str, seed: u64) -> String {
    let body = mixed(seed, 30);
    let digits: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
    let (mut rest, mut sum) = (crc32fast::hash(body.as_bytes()) as usize, Vec::new());
    for _ in 0..6 {
        sum.insert(0, digits[rest % 62]);
        rest /= 62;
    }
    format!("{prefix}{body}{}", sum.iter().collect::<String>())
}

fn base64url(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text)
}

/// Returns an armoured key with `lines` lines.
pub fn pem(label: &str, lines: u64) -> String {
    let body: Vec<String> = (0..lines).map(|line| mixed(line + 77, 64)).collect();
    let (begin, end) =
        (format!("-----BEGIN {label}PRIVATE KEY-----"), format!("-----END {label}PRIVATE KEY-----"));
    format!("{begin}\n{}\nAb3=\n{end}", body.join("\n"))
}

fn age() -> String {
    let name = b"age-secret-key-";
    let data: Vec<u8> = (0u32..52).map(|i| u8::try_from(i * 7 % 32).unwrap()).collect();
    let mut values: Vec<u8> = name.iter().map(|byte| byte >> 5).collect();
    values.push(0);
    values.extend(name.iter().map(|byte| byte & 31));
    values.extend(&data);
    values.extend([0; 6]);
    let generator = [0x3b6a_57b2u32, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let mut sum = 1u32;
    for value in values {
        let top = sum >> 25;
        sum = ((sum & 0x01ff_ffff) << 5) ^ u32::from(value);
        (0..5).filter(|i| (top >> i) & 1 == 1).for_each(|i| sum ^= generator[i]);
    }
    sum ^= 1;
    let sum = (0..6).map(|i| u8::try_from((sum >> (5 * (5 - i))) & 31).unwrap());
    let text: String =
        data.into_iter().chain(sum).map(|value| char::from(BECH32[usize::from(value)])).collect();
    format!("AGE-SECRET-KEY-1{}", text.to_uppercase())
}

/// Returns texts with secrets of the table's kinds: the kind, the text before the secret, the secret, the text after
/// it.
pub fn all() -> Vec<(&'static str, String, String, String)> {
    let row = |kind, before: &str, secret: String, after: &str| {
        (kind, before.to_string(), secret, after.to_string())
    };
    let word = mixed;
    let jwt =
        |header: &str| format!("{}.{}.{}", base64url(header), base64url("{\"sub\":\"1\"}"), mixed(9, 43));
    vec![
        row("github-token", "token ", with_checksum("ghp_", 1), "."),
        row("github-token", "\"", with_checksum("ghs_", 2), "\""),
        row(
            "github-token",
            "=",
            format!("ghs_7_{}", jwt("{\"alg\":\"RS256\"}").replace('-', "x") + &word(8, 60)),
            "\n",
        ),
        row("github-token", "=", format!("github_pat_{}_{}", word(3, 22), word(4, 59)), "\n"),
        row("gitlab-token", " ", format!("glpat-{}", word(5, 20)), "\n"),
        row("gitlab-token", " ", format!("glpat-{}.01.0{}", word(5, 40), word(6, 6)), " "),
        row("npm-token", "_authToken=", with_checksum("npm_", 6), "\n"),
        row("pypi-token", "password = ", format!("pypi-AgEIcHlwaS5vcmc{}", word(7, 120)), "\n"),
        row("huggingface-token", " ", format!("hf_{}", word(8, 34)), " "),
        row("anthropic-key", "key: ", format!("sk-ant-api03-{}-AA", word(9, 93)), "\n"),
        row("openai-key", "key: ", format!("sk-proj-{}T3BlbkFJ{}", word(10, 74), word(11, 74)), "\n"),
        row("openai-key", "key: ", format!("sk-{}", hex(12, 32)), "\n"),
        row("openai-key", "key: ", format!("sk-or-v1-{}", hex(13, 64)), "\n"),
        row("google-api-key", "?key=", format!("AIzaSy{}", word(14, 33)), "&x"),
        row("google-token", "Bearer ", format!("ya29.{}", word(15, 100)), "\n"),
        row("google-client-secret", "\"", format!("GOCSPX-{}", word(16, 28)), "\""),
        row("google-service-account", "{\"private_key\": \"", pem("", 26).replace('\n', "\\n"), "\\n\",\n"),
        row("slack-token", " ", format!("xoxb-{}-{}-{}", "2837465912", "9182736455", word(17, 24)), " "),
        row("slack-token", " ", format!("xapp-1-A0{}-{}-{}", "7H2KJ", "283746591", hex(18, 64)), " "),
        row(
            "slack-webhook",
            "https://hooks.slack.com/services/",
            format!("T0{}/B0{}/{}", "7H2KJ1A", "9QW3E1Z", word(19, 24)),
            " ",
        ),
        row("stripe-key", " ", format!("sk_live_{}", word(20, 24)), " "),
        row("stripe-key", " ", format!("whsec_{}", word(21, 32)), "\n"),
        row("twilio-key", " ", format!("SK{}", hex(22, 32)), " "),
        row("twilio-token", &format!("sid AC{}\ntoken ", hex(23, 32)), hex(24, 32), "\nnext"),
        row("sendgrid-key", " ", format!("SG.{}.{}", word(25, 22), word(26, 43)), " "),
        row("docker-token", " ", format!("dckr_pat_{}", word(27, 27)), " "),
        row("telegram-token", "bot=583920174", format!(":AA{}", word(28, 33)), "\n"),
        row("azure-client-secret", "secret=abc8", format!("Q~{}", word(29, 34)), "\n"),
        row("azure-storage-key", "AccountKey=", format!("{}==", word(30, 86)), ";Endpoint"),
        row("age-key", "\n", age(), "\n"),
        row("jwt", "token=", jwt("{\"alg\":\"HS256\",\"typ\":\"JWT\"}"), "\n"),
        row("private-key", "", pem("OPENSSH ", 7), "\n"),
        row("private-key", "> ", pem("EC ", 3), "\n$ "),
        row("url-password", "postgres://app:", word(31, 12), "@db.internal/x"),
        row("authorization", "-H 'Authorization: Bearer ", word(32, 40), "'"),
        row(
            "authorization",
            "Authorization: Basic ",
            {
                use base64::Engine;
                base64::engine::general_purpose::STANDARD.encode(format!("me:{}", word(33, 12)))
            },
            "\r\n",
        ),
    ]
    .into_iter()
    .filter(|(_, _, secret, _)| !secret.is_empty())
    .collect()
}

/// Returns an id of AWS and its key.
pub fn aws() -> (String, String) {
    (format!("AKIA{}", random(34, 16, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")), format!("{}/+k", mixed(35, 37)))
}
