//! Tests of reading front matter.

use super::*;

/// Reads these lines as a front matter.
fn read(lines: &str) -> FrontMatter<'static> {
    let text = format!("---\n{lines}\n---\nbody\n");
    let read = FrontMatter::read(&text).unwrap();
    FrontMatter { body: "", ..read }
}

fn fields(read: &FrontMatter<'_>) -> SkillFields {
    read.fields.clone().unwrap()
}

fn description(lines: &str) -> String {
    fields(&read(lines)).description.unwrap().trim_end().to_string()
}

#[test]
fn scalars_of_every_form_are_read() {
    for (text, expected) in [
        ("description: plain", "plain"),
        ("description:   plain  # a comment", "plain"),
        ("description: a#b", "a#b"),
        ("description: 1.0", "1.0"),
        ("description: true", "true"),
        ("description: null", "null"),
        ("description: ~", "~"),
        ("description: 2026-11-29", "2026-11-29"),
        ("description: 0x1F", "0x1F"),
        ("description:", ""),
        ("description: # nothing", ""),
        ("description: two\n  lines\n  of it", "two lines of it"),
        ("description: two\r\n  lines\r\nname: a\r", "two lines"),
        ("description:\n  below\n  it", "below it"),
        ("description: \"a \\\"b\\\" \\n \\u00e9 \\x41: c # d\"", "a \"b\" \n é A: c # d"),
        ("description: 'it''s: \"so\"'", "it's: \"so\""),
        ("description: \"one\n  two\"", "one two"),
        ("description: \"one\" # a comment", "one"),
        ("description: |\n  one\n    two\n\n  three\n\n", "one\n  two\n\nthree"),
        ("description: >\n  one\n  two\n\n  three", "one two\nthree"),
        ("description: >-\n  one\n  two", "one two"),
        ("description: >-\n  one\n    two\n  three", "one\n  two\nthree"),
        ("description: |2\n   one", " one"),
        ("description: |+\n  one\n\nname: a", "one"),
        ("description: 문서: 읽기", "문서: 읽기"),
        ("description: Use when: the user asks", "Use when: the user asks"),
        ("description: Use \"it\" for: a \\ b", "Use \"it\" for: a \\ b"),
        ("description: see http://a.b/c#d", "see http://a.b/c#d"),
        ("\"description\": x", "x"),
        ("description : x", "x"),
        ("  description: x\n  e: f", "x"),
        ("description: x\n...\nwords", "x"),
        ("description:\n  a: b", "a: b"),
        ("description:\n  - a\n  - b", "a b"),
        ("description:\nnot indented\nnor this\nname: a", "not indented nor this"),
        ("description: [a, b]", "[a, b]"),
        ("description: .inf", ".inf"),
        ("description: !!binary eA==", "eA=="),
        ("name: a\ndescription: b: c\ncompatibility: d: e", "b: c"),
    ] {
        assert_eq!(description(text), expected, "{text}");
    }
}

#[test]
fn lists_and_maps_are_passed_over() {
    for text in [
        "metadata:\n  author: me\n  version: \"1.0\"",
        "metadata:\n  a: b\n\n  c: d",
        "metadata:\n  a:\n    b: c\n  e: f",
        "metadata:\n  a:\n    b:\n    - c\n    - d: e",
        "metadata: x",
        "allowed-tools:\n- a\n- b c",
        "allowed-tools:\n  - 'a'\n  - Bash(git:*)",
        "license: |\n  a: b\n# not in it",
        "license:",
        "metadata:\n  a: .inf\n  b: -.inf\n  c: .nan\n  d: 1e999",
        "metadata: !!binary \"?\"",
    ] {
        let read = read(&format!("{text}\ndescription: x\ne: f"));
        assert!(read.faults.is_empty(), "{text}: {:?}", read.faults);
        let fields = fields(&read);
        let unknown: Vec<&str> = fields.unknown().collect();
        assert_eq!((fields.description.as_deref(), unknown), (Some("x"), vec!["e"]), "{text}");
    }
}

#[test]
fn what_strict_readers_refuse_is_a_fault_and_read_all_the_same() {
    for (text, fault) in [
        ("description: a: b", "line 2: a value with a colon is not quoted"),
        ("description: a\n  b: c", "line 3: a value with a colon is not quoted"),
        ("description: x\nmetadata:\n  a: b: c", "line 4: a value with a colon is not quoted"),
        ("description: [a, b]", "line 2: a value begins with a character"),
        ("description: {a: b}", "line 2: a value begins with a character"),
        ("description: x\nallowed-tools: [\n  a,\n]", "line 3: a value begins with a character"),
        ("description: x\nmetadata:\n  tags: [a, b]", "line 4: a value begins with a character"),
        ("description: x\nallowed-tools:\n  - [a]", "line 4: a value begins with a character"),
        ("description: x\nargument-hint: [<a>, \"[-b]\"]", "line 3: a value begins with a character"),
        ("description: &a b", "line 2: a value begins with a character"),
        ("description: *a", "line 2: a value begins with a character"),
        ("description: !a b", "line 2: a value begins with a character"),
        ("tags: &a\n  - b\ndescription: *a", "line 4: a value begins with a character"),
        ("description: x\ndescription: y", "line 3: \"description\" appears twice"),
        ("description: x\n\te: y", "line 3: it is indented"),
        ("description: x\nwords", "line 3: it is not a field"),
        ("description: \"x", "line 2: the closing quote is missing"),
        ("description: \"x\nname: a", "line 2: the closing quote is missing"),
        ("description: \"x\" y", "line 2: there is text after the closing quote"),
        ("description: | x\n  y", "line 2: there is text after the block indicator"),
        ("  e: x\ndescription: y", "line 3: it is indented less"),
        ("description: - a", "line 2: a value begins with a character"),
        ("description: , a", "line 2: a value begins with a character"),
        ("description: \"\\q\"", "line 2: a backslash does not begin"),
        ("description: x --- y", "--- occurs within"),
    ] {
        let read = read(text);
        assert!(read.faults.iter().any(|found| found.starts_with(fault)), "{text}: {:?}", read.faults);
        assert!(fields(&read).description.is_some(), "{text}");
    }
    let numbers = read("description: x\na: .inf\nb: .nan\nc: 1e999\nd: !!binary \"?\"");
    assert_eq!(numbers.faults, Vec::<String>::new());
    let twice = read(
        "description: x\nname: a\ndescription: y\n  z\nname:\n- b\nlicense: c\nmetadata:\n  d: e\n  d: |\n    f\n\n    g\n  h: i",
    );
    let lines = [(4, "description"), (6, "name"), (11, "d")];
    assert_eq!(twice.faults, lines.map(|(line, key)| format!("line {line}: {key:?} appears twice")));
    let twice = fields(&twice);
    assert_eq!((twice.name.as_deref(), twice.description.as_deref()), (Some("a"), Some("x")));
    let marked = FrontMatter::read("\u{feff}---\ndescription: x\n---\n").unwrap();
    assert_eq!((fields(&marked).description.as_deref(), marked.faults.len()), (Some("x"), 1));
    let three = read("description: a: b\ncompatibility: c: d\nauthor: e: f");
    assert_eq!((fields(&three).compatibility.as_deref(), three.faults.len()), (Some("c: d"), 3));
    let list = read("description: x\ncompatibility:\n  - a\n  - b");
    assert_eq!((list.joined, list.faults.len()), (vec!["compatibility".to_string()], 0));
}

#[test]
fn the_text_behind_it_is_the_body() {
    let read = FrontMatter::read("---\r\nname: a\r\n---\r\n\r\n# A\r\n\r\n---\r\nB\r\n").unwrap();
    assert_eq!(read.body, "# A\r\n\r\n---\r\nB");
    assert_eq!(fields(&read).name.as_deref(), Some("a"));
    for (text, why) in [
        ("", "does not begin"),
        ("# A\n", "does not begin"),
        ("----\nname: a\n---\n", "does not begin"),
        ("---\nname: a\n", "is not closed"),
        ("---\n# nothing\n---\n", "is empty"),
    ] {
        assert!(FrontMatter::read(text).unwrap_err().contains(why), "{text}");
    }
}

#[test]
fn a_limit_of_faults_is_read_and_more_are_a_fault_of_their_own() {
    let faulty = |count: usize| -> String { (0..count).map(|i| format!("a{i}: x: y\n")).collect() };
    let most = read(&(faulty(MOST_FAULTS) + "description: x"));
    assert_eq!((fields(&most).description.as_deref(), most.faults.len()), (Some("x"), MOST_FAULTS));
    let more = read(&(faulty(MOST_FAULTS + 1) + "description: x"));
    assert!(more.fields.is_none() && !more.faults[MOST_FAULTS - 1].contains("too many"));
    assert_eq!(more.faults[MOST_FAULTS..], [TOO_MANY]);
    // A line that is removed needs no pass.
    let indented = read(&("description: x\n".to_string() + &"\tx\n".repeat(MOST_FAULTS + 1)));
    assert_eq!(fields(&indented).description.as_deref(), Some("x"));
    assert_eq!(indented.faults[MOST_FAULTS..], [TOO_MANY]);
}

#[test]
fn a_large_front_matter_is_refused_and_a_large_body_is_not() {
    let text = |front: usize| {
        format!("---\ndescription: {}\n---\n{}", "x".repeat(front - 14), "x".repeat(MOST_FRONT_MATTER))
    };
    assert!(FrontMatter::read(&text(MOST_FRONT_MATTER)).is_ok());
    let larger = FrontMatter::read(&text(MOST_FRONT_MATTER + 1)).unwrap_err();
    assert_eq!(larger, format!("its front matter is larger than {} KiB", MOST_FRONT_MATTER >> 10));
    for line in ["x\n", "\tx\n"] {
        let lines = line.repeat((256 << 10) / line.len() - 8);
        assert_eq!(FrontMatter::read(&format!("---\n  a: b\n{lines}---\n")).unwrap_err(), larger);
    }
}

/// Hostile front matter, for some of which a reader without limits would take hours, with a part of its first fault: empty if it is valid.
fn hostile() -> Vec<(String, &'static str)> {
    let each = |count: usize, line: fn(usize) -> String| (0..count).map(line).collect::<String>();
    vec![
        ("- ".repeat(15_000), "line 2: it is not a field"),
        (format!("description: {}", "- ".repeat(15_000)), "line 2: a value begins with"),
        (format!("metadata:\n  {}", "- ".repeat(15_000)), "line 3: it is nested too deeply"),
        (each(250, |i| format!("{}a:\n", " ".repeat(i))), "line 34: it is nested too deeply"),
        ("? ".repeat(15_000), "line 2: it is nested too deeply"),
        (format!("a: {}", "[".repeat(30_000)), "line 2: a value begins with"),
        (format!("a: {}", "{a: ".repeat(8_000)), "line 2: a value begins with"),
        (
            "a: &a0 [x,x,x,x]\n".to_string()
                + &each(12, |i| format!("b{i}: &a{} [*a{i},*a{i},*a{i}]\n", i + 1)),
            "line 2: a value begins with",
        ),
        (each(1_900, |i| format!("a{i}: &b{i} x\n")), "line 2: a value begins with"),
        ("<<: *a\n".repeat(4_000), "line 2: a value begins with"),
        (format!("a: {}", "!a ".repeat(10_000)), "line 2: a value begins with"),
        ("a: |\n".repeat(6_000), "line 3: \"a\" appears twice"),
        ("a: b\n".repeat(6_000), "line 3: \"a\" appears twice"),
        ("a:\n".to_string() + &" b:\n".repeat(8_000), "line 4: \"b\" appears twice"),
        (each(2_400, |i| format!("a{i}: x: y\n")), "line 2: a value with a colon"),
        (format!("a: {}", ": ".repeat(16_000)), "line 2: a value with a colon"),
        ("a: x\n".to_string() + &" b: c: d\n".repeat(3_500), "line 3: a value with a colon"),
        (format!("a: \"{}", "\\".repeat(30_000)), "line 2: the closing quote"),
        (format!("a: '{}", "''".repeat(15_000)), "line 2: the closing quote"),
        ("a: \"x\n".to_string() + &" y\n".repeat(10_000), "line 10002: the closing quote"),
        ("description: x\n".to_string() + &"words\n".repeat(5_400), "line 3: it is not a field"),
        (format!("{}: x", "k".repeat(32_000)), "line 2: it is not a field"),
        ("a: \"\\u00".to_string(), "line 2: "),
        ("a: \"\\U00110000\"".to_string(), "line 2: "),
        ("a: \0\0\ndescription: \u{7f}\u{1b}[2J".to_string(), "line 2: "),
        ("%YAML 1.2\n".repeat(3_200), "line "),
        ("\u{85}: \u{2028}\n각:각\n".to_string(), "line 3: it is not a field"),
        (each(3_300, |i| format!("a{i}: x\n")), ""),
        ("  a: b\n".to_string() + &"x\n".repeat(16_000), "line 3: it is indented less"),
        ("  a: b\n".to_string() + &"\tx\n".repeat(10_000), "line 3: it is indented"),
        ("#\n".repeat(16_000) + "description: x", ""),
    ]
}

#[test]
fn hostile_text_is_refused_in_time_with_its_line_and_without_a_panic() {
    for (text, fault) in hostile() {
        let read = read(&text);
        let first = read.faults.first().map_or("", String::as_str);
        let begins: String = text.chars().take(30).collect();
        assert_eq!(first.is_empty(), fault.is_empty(), "{begins:?}: {:?}", read.faults);
        assert!(first.starts_with(fault), "{begins:?}: {:?}", read.faults);
        assert!(read.faults.len() <= MOST_FAULTS + 1, "{begins:?}: {}", read.faults.len());
        assert!(!first.chars().any(char::is_control), "{first:?}");
    }
    assert!(FrontMatter::read(&format!("---\n{}\n---\n", " ".repeat(30_000))).is_err());
}
