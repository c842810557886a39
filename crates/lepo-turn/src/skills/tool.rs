//! The tool `skill`: its specification, and the list of a skill's files.

use ignore::WalkBuilder;
use serde_json::json;

use super::FILES;
use super::find::Skill;
use lepo_model::ToolSpec;

pub const TOOL: &str = "skill";

/// Maximum number of files to list.
const MOST: usize = 200;

/// Maximum depth of listed folders.
const DEEPEST: usize = 6;

const DESCRIPTION: &str = "Gives the instructions of a skill, by its name, and lists the files beside them. Call it before \
    you begin a task that a skill fits.";

/// Returns the specification of the tool; `None` without skills.
pub fn tool(skills: &[Skill]) -> Option<ToolSpec> {
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    (!names.is_empty()).then(|| ToolSpec {
        name: TOOL.to_string(),
        description: DESCRIPTION.to_string(),
        schema: json!({
            "type": "object",
            "properties": { "name": { "type": "string", "enum": names } },
            "required": ["name"],
        }),
    })
}

/// Lists the files next to `SKILL.md`, as paths below its folder; a last line says if there are more.
pub fn files_of(skill: &Skill) -> Vec<String> {
    let mut walk = WalkBuilder::new(&skill.folder);
    walk.standard_filters(false).hidden(true).follow_links(false).max_depth(Some(DEEPEST));
    walk.sort_by_file_path(std::path::Path::cmp);
    let files = walk.build().flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let below = files.filter_map(|entry| {
        let path = entry.path().strip_prefix(&skill.folder).ok()?.to_str()?.to_string();
        let is_shown = !FILES.contains(&path.as_str()) && !path.chars().any(char::is_control);
        is_shown.then_some(path)
    });
    let mut listed: Vec<String> = below.take(MOST + 1).collect();
    if listed.len() > MOST {
        listed.truncate(MOST);
        listed.push("… and more".to_string());
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::super::find::SkillOrigin;
    use super::*;
    use crate::config::RepoFile;

    #[test]
    fn the_files_of_a_skill_are_listed_without_links_and_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in ["scripts", "references/deep", ".git"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for path in
            ["SKILL.md", "scripts/x.py", "references/deep/a b.md", ".git/config", "b\nad", ".gitignore"]
        {
            std::fs::write(at(path), "*").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", at("link")).unwrap();
        let file = RepoFile { path: at("SKILL.md"), bytes: Vec::new() };
        let skill = Skill {
            name: "a".into(),
            description: "x".into(),
            folder: dir.path().into(),
            body: String::new(),
            origin: SkillOrigin::User,
            file,
        };
        assert_eq!(files_of(&skill), ["references/deep/a b.md", "scripts/x.py"]);
        for i in 0..300 {
            std::fs::write(at(&format!("scripts/{i:03}")), "").unwrap();
        }
        let listed = files_of(&skill);
        assert_eq!((listed.len(), listed.last().map(String::as_str)), (MOST + 1, Some("… and more")));
        let spec = tool(std::slice::from_ref(&skill)).unwrap();
        assert_eq!(spec.schema["properties"]["name"]["enum"], json!(["a"]));
        assert!(tool(&[]).is_none());
    }
}
