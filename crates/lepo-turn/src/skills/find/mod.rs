//! Finds the skills of the user and of the repository. A repository's skills are inactive until the user
//! trusts them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::check::faults_of_name;
use super::front_matter::{FrontMatter, TOO_MANY};
use super::{FILES, MOST_FILE};
use crate::Notice;
use crate::config::{Paths, RepoFile, Trust};
use crate::instructions::{NOT_TAKEN, in_note, read_inside};
use lepo_base::error::{Error, Result};
use lepo_base::worktree::Worktree;

/// Maximum number of skills.
const MOST: usize = 500;

/// Maximum number of folders to search.
const FOLDERS: usize = 2000;

/// Maximum depth of a skill: `skills/NAME/SKILL.md` has depth 1.
const DEEPEST: usize = 4;

/// Maximum bytes of a usable name.
const LONGEST_NAME: usize = 256;

/// Folders to skip.
const SKIPPED: [&str; 2] = [".git", "node_modules"];

/// The origin of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillOrigin {
    /// A folder of the user.
    User,
    /// The repository.
    Repository,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Name by which the model and the user ask for it.
    pub name: String,
    /// Description, on a single line.
    pub description: String,
    /// Absolute path of its folder, without symbolic links.
    pub folder: PathBuf,
    /// Its instructions.
    pub body: String,
    /// Whose skill it is.
    pub origin: SkillOrigin,
    /// `SKILL.md` in its current state, to which trust applies.
    pub file: RepoFile,
}

/// All skills found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skills {
    /// Active skills, sorted by name; names are unique.
    pub counting: Vec<Skill>,
    /// Skills of the repository that the user does not trust.
    pub untrusted: Vec<Skill>,
    /// Skipped skills, with the reason, and faults of others.
    pub warnings: Vec<Notice>,
}

impl Skill {
    /// Returns the question for a user who enters only the skill's name.
    pub fn asks_for_itself(&self) -> String {
        format!("Use the skill {}.", self.name)
    }
}

impl Skills {
    /// Searches the user's folders, and the repository that contains `dir`.
    pub fn read(dir: &Path, paths: &Paths) -> Result<Skills> {
        SkillSearch::everywhere(dir, paths).into_skills(&Trust::new(paths))
    }

    /// Returns the folders of all skills, including skipped ones.
    pub fn folders(dir: &Path, paths: &Paths) -> Vec<PathBuf> {
        SkillSearch::everywhere(dir, paths).folders
    }

    /// Returns the active skill of this name; `unknown` is the error if no such skill exists.
    pub fn get(&self, name: &str, unknown: Error) -> Result<Skill> {
        match (self.find(name), self.untrusted.iter().any(|skill| skill.name == name)) {
            (Some(skill), _) => Ok(skill.clone()),
            (None, true) => Err(Error::usage(format!("skill {name} of the repository is not trusted"))
                .hint("`lepo trust` shows it, and trusts it on a yes")),
            (None, false) => Err(unknown),
        }
    }

    /// Returns the active skill of this name.
    pub fn find(&self, name: &str) -> Option<&Skill> {
        self.counting.iter().find(|skill| skill.name == name)
    }
}

#[derive(Default)]
struct SkillSearch {
    skills: Vec<Skill>,
    visited: HashSet<PathBuf>,
    folders: Vec<PathBuf>,
    warnings: Vec<Notice>,
    is_full: bool,
}

impl SkillSearch {
    fn everywhere(dir: &Path, paths: &Paths) -> SkillSearch {
        let mut search = SkillSearch::default();
        let home = |folder: &str| paths.home.as_ref().map(|home| home.join(folder).join("skills"));
        let folders = [Some(paths.config.join("skills")), home(".agents"), home(".claude")];
        for folder in folders.into_iter().flatten() {
            search.scan_dir(&folder, SkillOrigin::User, None);
        }
        if let Some(tree) = Worktree::containing(dir) {
            for folder in [".agents/skills", ".claude/skills"].map(|folder| tree.root.join(folder)) {
                match tree.is_taken {
                    true => search.scan_dir(&folder, SkillOrigin::Repository, Some(&tree.root)),
                    false if folder.is_dir() => search.warn_of(&folder, NOT_TAKEN),
                    false => {}
                }
            }
        }
        search
    }

    fn warn_of(&mut self, path: &Path, why: &str) {
        self.warnings.push(Notice::LeftOut(in_note(path), why.to_string()));
    }

    /// Adds the skills below a folder. If `within` is set, the folder must be inside of it.
    fn scan_dir(&mut self, folder: &Path, origin: SkillOrigin, within: Option<&Path>) {
        let mut folders = vec![(folder.to_path_buf(), 0)];
        let mut scanned = 0;
        while let Some((folder, depth)) = folders.pop() {
            let Ok(real) = folder.canonicalize() else {
                // The root folder of skills may be missing.
                if depth > 0 {
                    self.warn_of(&folder, "it is a broken link");
                }
                continue;
            };
            if within.is_some_and(|within| !real.starts_with(within)) {
                self.warn_of(&folder, "its link leads outside the repository");
                continue;
            }
            // A folder with several links to it counts once.
            if !self.visited.insert(real.clone()) {
                continue;
            }
            scanned += 1;
            if scanned > FOLDERS {
                self.warn_of(&folder, &format!("more than {FOLDERS} folders are not looked through"));
                return;
            }
            if depth > 0
                && let Some(file) =
                    FILES.map(|name| real.join(name)).into_iter().find(|path| path.symlink_metadata().is_ok())
            {
                self.folders.push(folder.clone());
                self.add(&folder, &real, &file, origin, within);
                continue;
            }
            if depth < DEEPEST {
                let mut below = folders_in(&folder);
                // The last element is visited first.
                below.sort_unstable_by(|a, b| b.cmp(a));
                folders.extend(below.into_iter().map(|folder| (folder, depth + 1)));
            }
        }
    }

    /// Adds the skill in this folder; `real` is its path without symbolic links.
    fn add(&mut self, folder: &Path, real: &Path, file: &Path, origin: SkillOrigin, within: Option<&Path>) {
        if self.skills.len() == MOST {
            if !std::mem::replace(&mut self.is_full, true) {
                self.warn_of(folder, &format!("it and those after it are more than {MOST} skills"));
            }
            return;
        }
        let (text, _) = match read_inside(within, file, MOST_FILE) {
            Ok(read) => read,
            Err(why) => return self.warn_of(folder, &why),
        };
        let read = match FrontMatter::read(&text) {
            Ok(read) => read,
            Err(why) => return self.warn_of(folder, why),
        };
        let Some(fields) = &read.fields else {
            return self.warn_of(folder, TOO_MANY);
        };
        let description = on_one_line(fields.description.as_deref().unwrap_or_default());
        if description.is_empty() {
            return self.warn_of(folder, "it has no description");
        }
        let folder_name =
            real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let written = fields.name.as_deref().unwrap_or_default().trim();
        let Some(name) = [written, &folder_name].into_iter().find(|name| is_usable(name)) else {
            return self.warn_of(folder, "neither its name nor that of its folder is a word");
        };
        let faults = match written {
            "" => vec!["it has no name, so it has that of its folder".to_string()],
            written => faults_of_name(written, &folder_name),
        };
        for fault in faults {
            self.warnings.push(Notice::SkillFault(in_note(folder), fault));
        }
        self.skills.push(Skill {
            name: name.to_string(),
            description,
            folder: real.to_path_buf(),
            body: read.body.to_string(),
            origin,
            file: RepoFile { path: file.to_path_buf(), bytes: text.clone().into_bytes() },
        });
    }

    /// Chooses the active skills: the repository's trusted skills override the user's, and earlier ones
    /// override later ones.
    fn into_skills(self, trust: &Trust) -> Result<Skills> {
        let mut skills = Skills { warnings: self.warnings, ..Skills::default() };
        let (repository_skills, user_skills): (Vec<Skill>, Vec<Skill>) =
            self.skills.into_iter().partition(|skill| skill.origin == SkillOrigin::Repository);
        for skill in repository_skills {
            match trust.covers(&skill.file)? {
                false => skills.untrusted.push(skill),
                true if skills.find(&skill.name).is_none() => skills.counting.push(skill),
                true => {}
            }
        }
        let mut named = HashSet::new();
        for skill in user_skills {
            if !named.insert(skill.name.clone()) {
                continue;
            }
            match skills.find(&skill.name) {
                None => skills.counting.push(skill),
                Some(_) => {
                    let folder = in_note(&skill.folder);
                    skills.warnings.push(Notice::SkillOfRepository(skill.name, folder));
                }
            }
        }
        skills.counting.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(skills)
    }
}

/// Returns the subfolders of a folder, including links to folders.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_scanned = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let kind = entry.file_type();
        !SKIPPED.iter().any(|skipped| name == *skipped)
            && kind.is_ok_and(|kind| kind.is_dir() || kind.is_symlink() && !entry.path().is_file())
    };
    entries.filter(is_scanned).map(|entry| entry.path()).collect()
}

/// Whether a name can be typed and listed: a word without control characters.
fn is_usable(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.chars().any(|c| {
            c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\' | '\u{fffd}' | '[' | ']' | ',')
        })
        && !name.starts_with(['-', '.'])
}

/// Joins a text to a single line without control characters.
fn on_one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
