//! Checks a skill against the published rules, and like the reference validator.

use std::path::Path;

use icu_normalizer::ComposingNormalizerBorrowed;

use super::front_matter::{FIELDS, FrontMatter, SkillFields};
use super::{FILES, MOST_FILE};
use crate::instructions::read_inside;

/// Maximum characters of a name, a description, and a compatibility.
const LONGEST: (usize, usize, usize) = (64, 1024, 500);

/// Whether a folder has a `SKILL.md`.
pub fn is_skill(folder: &Path) -> bool {
    FILES.iter().any(|name| folder.join(name).symlink_metadata().is_ok())
}

/// Returns the faults of the skill in this folder, a line each; empty if the skill is valid.
pub fn check_skill(folder: &Path) -> Vec<String> {
    let Some(file) = FILES.iter().map(|name| folder.join(name)).find(|path| path.exists()) else {
        return vec!["there is no SKILL.md".to_string()];
    };
    let text = match read_inside(None, &file, MOST_FILE) {
        Ok((text, _)) => text,
        Err(why) => return vec![format!("SKILL.md: {why}")],
    };
    let read = match FrontMatter::read(&text) {
        Ok(read) => read,
        Err(why) => return vec![format!("SKILL.md: {why}")],
    };
    // The folder `.` has a name too.
    let folder = folder.canonicalize().unwrap_or(folder.to_path_buf());
    let folder = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut faults: Vec<String> = read.faults.iter().map(|fault| format!("SKILL.md: {fault}")).collect();
    if let Some(fields) = &read.fields {
        faults.extend(faults_of(fields, &read.joined, &folder));
    }
    faults
}

fn faults_of(fields: &SkillFields, joined: &[String], folder: &str) -> Vec<String> {
    let (_, longest_description, longest_compatibility) = LONGEST;
    let mut faults = Vec::new();
    for field in fields.unknown() {
        faults.push(format!("there is no field {field:?}; the fields are {}", FIELDS.join(", ")));
    }
    let mut text = |field: &str, value: &Option<String>, is_needed: bool| -> Option<String> {
        let fault = match value.as_deref().map(str::trim) {
            _ if joined.iter().any(|joined| joined == field) => "is not text",
            Some(text) if !text.is_empty() => return Some(text.to_string()),
            Some(_) if is_needed => "is empty",
            None if is_needed => "is missing",
            Some(_) | None => return None,
        };
        faults.push(format!("`{field}` {fault}"));
        None
    };
    let name = text("name", &fields.name, true);
    let description = text("description", &fields.description, true);
    let compatibility = text("compatibility", &fields.compatibility, false);
    if let Some(name) = name {
        faults.extend(faults_of_name(&name, folder));
    }
    for (field, text, longest) in [
        ("description", description, longest_description),
        ("compatibility", compatibility, longest_compatibility),
    ] {
        let length = text.map_or(0, |text| text.chars().count());
        if length > longest {
            faults.push(format!("`{field}` has {length} characters; {longest} at most"));
        }
    }
    faults
}

/// Returns the faults of a name.
pub fn faults_of_name(name: &str, folder: &str) -> Vec<String> {
    let normal = |text: &str| ComposingNormalizerBorrowed::new_nfkc().normalize(text.trim()).into_owned();
    let (name, folder) = (normal(name), normal(folder));
    let (longest, ..) = LONGEST;
    let length = name.chars().count();
    let mut faults = Vec::new();
    for (is_wrong, what) in [
        (length > longest, format!("has {length} characters; {longest} at most")),
        (name != name.to_lowercase(), "has capital letters".to_string()),
        (name.starts_with('-') || name.ends_with('-'), "begins or ends with a hyphen".to_string()),
        (name.contains("--"), "has two hyphens in a row".to_string()),
        (
            !name.chars().all(|c| c.is_alphanumeric() || c == '-'),
            "has something other than letters, digits and hyphens".to_string(),
        ),
        (name != folder, format!("differs from that of its folder, {folder:?}")),
    ] {
        if is_wrong {
            faults.push(format!("the name {name:?} {what}"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the faults of a skill in a folder `demo`, without their common prefix.
    fn faults(front: &str) -> String {
        let text = format!("---\n{front}\n---\nBody.\n");
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("demo");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("SKILL.md"), text).unwrap();
        check_skill(&folder).join(" / ")
    }

    #[test]
    fn what_the_rules_refuse_is_told_and_nothing_else() {
        let long = |n: usize| "각".repeat(n);
        for (front, expected) in [
            ("name: demo\ndescription: Does it.".to_string(), String::new()),
            (
                "name: demo\ndescription: x\nlicense: MIT\ncompatibility: git\nmetadata:\n  author: me\nallowed-tools: Bash Read"
                    .into(),
                "".into(),
            ),
            (format!("name: demo\ndescription: {}", long(1024)), "".into()),
            (
                format!("name: demo\ndescription: {}", long(1025)),
                "`description` has 1025 characters; 1024 at most".into(),
            ),
            ("description: x".into(), "`name` is missing".into()),
            ("name: demo".into(), "`description` is missing".into()),
            ("name: demo\ndescription:".into(), "`description` is empty".into()),
            ("name: ''\ndescription: x".into(), "`name` is empty".into()),
            ("name: demo\ndescription:\n  a: b".into(), "`description` is not text".into()),
            ("name: demo\ndescription: x\nauthor: me".into(), "there is no field \"author\"; the fields are name, description, license, compatibility, metadata, allowed-tools".into()),
            (
                "name: Demo\ndescription: x".into(),
                "the name \"Demo\" has capital letters / the name \"Demo\" differs from that of its folder, \"demo\"".into(),
            ),
            ("name: other\ndescription: x".into(), "the name \"other\" differs from that of its folder, \"demo\"".into()),
            (
                format!("name: demo\ndescription: x\ncompatibility: {}", "c".repeat(501)),
                "`compatibility` has 501 characters; 500 at most".into(),
            ),
            ("name: demo\ndescription: Use when: asked".into(), "SKILL.md: line 3: a value with a colon is not quoted".into()),
        ] {
            assert_eq!(faults(&front), expected, "{front}");
        }
        let faulty: String = (0..17).map(|i| format!("a{i}: x: y\n")).collect();
        let faulty = faults(&(faulty + "name: demo\ndescription: x"));
        let end =
            "line 17: a value with a colon is not quoted / SKILL.md: its front matter has too many faults";
        assert!(faulty.ends_with(end), "{faulty}");
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(check_skill(dir.path()), ["there is no SKILL.md"]);
        std::fs::write(dir.path().join("skill.md"), "no front matter").unwrap();
        assert_eq!(check_skill(dir.path()), ["SKILL.md: it does not begin with front matter (---)"]);
    }

    #[test]
    fn strict_and_lenient_yaml_are_told_apart() {
        let (accepted, refused) = (true, false);
        for (front, expected) in [
            ("description: |\n  a: b\n  c", accepted),
            ("description: >-\n  a\n  b: c", accepted),
            ("description: 'it''s: so'", accepted),
            ("description: \"a: \\\"b\\\"\"", accepted),
            ("description: x # c", accepted),
            ("description: x\n  y", accepted),
            ("description:\n  x\n  y", accepted),
            ("description: 123", accepted),
            ("description: null", accepted),
            ("description: a - b", accepted),
            ("description: a:b", accepted),
            ("description: http://x.y/z", accepted),
            ("description: \"x\n  y\"", accepted),
            ("description: ','", accepted),
            ("description: x#y", accepted),
            ("description: x\n...", accepted),
            ("description: x\nmetadata:\n  a:\n    b: c", accepted),
            ("description: x\nmetadata: x", accepted),
            ("description: x\nallowed-tools:\n  - a\n  - b", accepted),
            ("description: x\nlicense:", accepted),
            ("description: x\nlicense:\n  - a", accepted),
            ("description: x\ncompatibility:", accepted),
            ("description: x\ncompatibility:\n  a: b", refused),
            ("description: x\nallowed-tools: [a]", refused),
            ("description: {a: b}", refused),
            ("description: &a b", refused),
            ("description: !x y", refused),
            ("description: *x", refused),
            ("description: %x", refused),
            ("description: @x", refused),
            ("description: `x`", refused),
            ("description: - a", refused),
            ("description: ? x", refused),
            ("description: , x", refused),
            ("description: #x", refused),
            ("description: a:", refused),
            ("description: x\n  y: z", refused),
            ("description: x\ndescription: y", refused),
            ("\tdescription: x", refused),
            ("description: x\nwords", refused),
            ("description: \"x", refused),
            ("description: 'x", refused),
            ("description: \"x\" y", refused),
            ("description: \"\\q\"", refused),
            ("description: |x\n  y", refused),
            ("description: ---", refused),
            (" description: x", refused),
        ] {
            let faults = faults(&format!("name: demo\n{front}"));
            assert_eq!(faults.is_empty(), expected, "{front}: {faults}");
        }
    }

    #[test]
    fn names_of_every_script_are_names() {
        for (name, fault) in [
            ("pdf-2", ""),
            ("문서", ""),
            // Decomposed, as some file systems write it.
            ("\u{1106}\u{116e}\u{11ab}\u{1109}\u{1165}", ""),
            ("-a", "begins or ends"),
            ("a-", "begins or ends"),
            ("a--b", "two hyphens"),
            ("a_b", "other than letters"),
            ("a b", "other than letters"),
            ("a\u{1b}[2J", "other than letters"),
            ("É", "capital"),
        ] {
            let faults = faults_of_name(name, name);
            match fault {
                "" => assert!(faults.is_empty(), "{faults:?}"),
                fault => assert!(faults.iter().any(|found| found.contains(fault)), "{name}: {faults:?}"),
            }
        }
        assert!(faults_of_name("문서", "\u{1106}\u{116e}\u{11ab}\u{1109}\u{1165}").is_empty());
        assert_eq!(faults_of_name(&"a".repeat(65), &"a".repeat(65)).len(), 1);
    }
}
