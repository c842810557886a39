//! The bubbs of skills: the catalogue, added once and after changes, and the instructions of a requested
//! skill.

use super::find::Skill;
use super::tool::{TOOL, files_of};
use crate::Masking;
use crate::body::{Body, CATALOGUE, SKILL};
use crate::message::{Message, NewMessage};
use lepo_base::role::Role;

/// The rest of the first line.
const ABOUT: &str = "Each is a set of instructions for one kind of task. If one fits what is asked, call the tool `skill` \
    with its name before you answer, and follow what it gives.";

/// The catalogue after all skills were removed.
const GONE: &str =
    "[skills of this conversation] None are there any more: the earlier ones cannot be called.";

/// Maximum bytes of all names and descriptions in a catalogue.
const MOST: usize = 16 << 10;

fn catalogue(skills: &[Skill]) -> String {
    let names: usize = skills.iter().map(|skill| skill.name.len()).sum();
    let longest = longest(skills.iter().map(|skill| skill.description.len()), MOST.saturating_sub(names));
    let mut text = format!("{CATALOGUE} {ABOUT}\n");
    for Skill { name, description, .. } in skills {
        match description.len() <= longest {
            true => text.push_str(&format!("\n- {name}: {description}")),
            false => {
                let (cut, _) = description.split_at(description.floor_char_boundary(longest));
                text.push_str(&format!("\n- {name}: {}…", cut.trim_end()));
            }
        }
    }
    text
}

/// Returns the length at which to cut texts of these lengths so that all together fit into `room`.
fn longest(lengths: impl Iterator<Item = usize>, room: usize) -> usize {
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    let mut remaining = room;
    for (i, &length) in lengths.iter().enumerate() {
        let others = lengths.len() - i;
        if length.saturating_mul(others) > remaining {
            return remaining / others;
        }
        remaining -= length;
    }
    usize::MAX
}

/// Returns the catalogue to insert before a question at the end of this path, if one is needed.
pub fn opening(skills: &[Skill], path: &[Message], masking: &Masking) -> Option<NewMessage> {
    let last = path.iter().rfind(|message| message.body == Body::Catalogue);
    let text = match skills {
        [] if last.is_none_or(|message| *message.text == *GONE) => return None,
        [] => GONE.to_string(),
        skills => catalogue(skills),
    };
    let kept = masking.screen_uncounted(&text).into_owned();
    let is_told = last.is_some_and(|message| *message.text == *kept.text());
    (!is_told).then(|| NewMessage::hidden(text, kept))
}

fn head(skill: &Skill) -> String {
    format!("{SKILL}{}, from {}]", skill.name, skill.folder.display())
}

/// Returns the instructions of a skill, with the list of its files.
pub fn skill_text(skill: &Skill) -> String {
    let mut text = format!(
        "{} Follow these instructions. Paths in them are below that folder.\n\n{}",
        head(skill),
        skill.body
    );
    let files = files_of(skill);
    if !files.is_empty() {
        text.push_str("\n\nFiles of this skill, to be read when they are needed:\n");
        text.push_str(&files.join("\n"));
    }
    text
}

/// Whether the path contains this text as the instructions of a skill.
pub fn is_given(text: &str, path: &[Message], masking: &Masking) -> bool {
    let kept = masking.masked(text);
    skill_messages(path).any(|message| message.text.contains(&*kept) || message.text.contains(text))
}

/// Whether the path contains instructions of this skill, in any version.
pub fn is_of(skill: &Skill, path: &[Message]) -> bool {
    let head = head(skill);
    skill_messages(path).any(|message| message.text.contains(&head))
}

/// Returns the bubbs with instructions of skills: stored ones, and the tool's results in the turn that called
/// it.
fn skill_messages(path: &[Message]) -> impl Iterator<Item = &Message> {
    let kept = path.iter().filter(|message| message.body == Body::Skill);
    kept.chain(results(path))
}

fn results(path: &[Message]) -> impl Iterator<Item = &Message> {
    let is_call = |message: &Message| {
        message.hidden
            && message.role == Role::Assistant
            && matches!(&message.body, Body::Call { name, .. } if name == TOOL)
    };
    path.windows(2).filter_map(move |pair| match pair {
        [asked, result] if is_call(asked) && result.role == Role::Tool && result.hidden => {
            Some(result).filter(|result| result.text.starts_with(SKILL))
        }
        _ => None,
    })
}

/// Returns the instructions that the tool returned on this side branch, as a text that remains on the path.
pub fn called_instructions(side: &[Message]) -> Option<String> {
    let texts: Vec<&str> = results(side).map(|message| &*message.text).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::super::find::SkillOrigin;
    use super::*;
    use crate::config::RepoFile;
    use crate::message::fixture::path;

    fn skill(name: &str, description: &str) -> Skill {
        Skill {
            name: name.into(),
            description: description.into(),
            folder: format!("/skills/{name}").into(),
            body: "Do it.".into(),
            origin: SkillOrigin::User,
            file: RepoFile { path: "/x".into(), bytes: Vec::new() },
        }
    }

    fn message(role: Role, text: &str) -> Message {
        Message::new(role, true, text)
    }

    #[test]
    fn all_names_are_told_and_long_descriptions_are_cut_to_one_length() {
        let text = catalogue(&[
            skill("a", "short"),
            skill("b", &"각".repeat(20_000)),
            skill("c", &"x".repeat(9000)),
        ]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[2], lines.len()), ("- a: short", 5));
        let (b, c) = (lines[3].len(), lines[4].len());
        assert!(lines[3].ends_with('…') && lines[4].ends_with('…') && b.abs_diff(c) < 4, "{b} {c}");
        let bytes: usize = lines.iter().skip(2).map(|line| line.len()).sum();
        assert!((MOST - 20..MOST + 30).contains(&bytes), "{bytes}");
        let many: Vec<Skill> = (0..500).map(|i| skill(&format!("skill-{i:03}"), &"x".repeat(1024))).collect();
        assert!(catalogue(&many).len() < MOST + 500 * 8 + 400, "{}", catalogue(&many).len());
        for (lengths, room, expected) in [
            (&[1, 2, 3][..], 6, usize::MAX),
            (&[1, 2, 3], 5, 2),
            (&[10, 10], 4, 2),
            (&[1, 100, 100], 21, 10),
            (&[], 0, usize::MAX),
            (&[5], 0, 0),
        ] {
            assert_eq!(longest(lengths.iter().copied(), room), expected, "{lengths:?} {room}");
        }
    }

    #[test]
    fn the_catalogue_is_told_once_and_when_it_changed() {
        let masking = Masking::shapes_only();
        let mut conv = path("s1 P / u0 hi / a0 x");
        let mut catalogue_text = |skills: &[Skill]| {
            let text = opening(skills, &conv, &masking)?.message.text;
            conv.push(message(Role::System, &text));
            Some(text)
        };
        assert_eq!(catalogue_text(&[]), None);
        assert!(catalogue_text(&[skill("a", "x")]).unwrap().ends_with("\n- a: x"));
        assert_eq!(catalogue_text(&[skill("a", "x")]), None);
        assert!(catalogue_text(&[skill("a", "y")]).is_some());
        assert_eq!(catalogue_text(&[]).as_deref(), Some(GONE));
        assert_eq!(catalogue_text(&[]), None);
        assert!(catalogue_text(&[skill("a", "y")]).is_some());
    }

    #[test]
    fn only_results_of_the_tool_stay_as_instructions() {
        let text = skill_text(&skill("a", "x"));
        let call = r#"{"arguments":{"name":"a"},"name":"skill"}"#;
        let side = [message(Role::Assistant, call), message(Role::Tool, &text)];
        assert_eq!(called_instructions(&side).as_deref(), Some(text.as_str()));
        let other = r#"{"arguments":{},"server":"s","tool":"t"}"#;
        for forged in [
            vec![message(Role::Assistant, other), message(Role::Tool, &text)],
            vec![message(Role::Assistant, call), message(Role::Tool, "error: no such skill")],
            vec![message(Role::Assistant, call), message(Role::User, &text)],
            vec![message(Role::Tool, &text)],
        ] {
            assert_eq!(called_instructions(&forged), None, "{forged:?}");
            assert!(!is_of(&skill("a", "x"), &forged), "{forged:?}");
        }
        let masking = Masking::shapes_only();
        assert!(is_given(&text, &side, &masking));
        let kept = [message(Role::System, &format!("{text}\n\n[skill b, from /skills/b] x"))];
        assert!(is_given(&text, &kept, &masking) && is_of(&skill("b", "x"), &kept));
        let changed = skill_text(&Skill { body: "Do that.".into(), ..skill("a", "x") });
        assert!(!is_given(&changed, &kept, &masking), "changed, it is given anew");
    }
}
