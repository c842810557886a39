//! `lepo prompt ls`: lists prompts and skills.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::Context;
use crate::term::{Column, Table, excerpt, excerpt_within, one_line, print_status};
use crate::ui::notice_lines;
use lepo_base::error::Result;
use lepo_base::hint::{Hint, HintCommand};
use lepo_turn::skills::{Skill, SkillOrigin, Skills};
use lepo_turn::{ListedPrompt, Notice};

/// Name and origin; then the text, below them if less than this remains.
const COLUMNS: [Column; 3] = [Column::WHOLE, Column::WHOLE, Column::REST.at_least(20)];

pub fn list(
    prompts: &[ListedPrompt],
    skills: &Skills,
    as_json: bool,
    context: &mut Context<'_>,
) -> Result<u8> {
    let counting = skills.counting.iter().map(|skill| (skill, true));
    let each = || counting.clone().chain(skills.untrusted.iter().map(|skill| (skill, false)));
    if as_json {
        let prompts = prompts.iter().map(PromptRow::new).collect();
        let skills = each().map(|(skill, counts)| SkillRow::new(skill, counts)).collect();
        context.out.document(&PromptsDocument { prompts, skills });
        return Ok(0);
    }
    if prompts.is_empty() && each().next().is_none() {
        let (add, edit) = ("prompt add NAME TEXT".to_string(), "prompt edit NAME".to_string());
        let hint = Hint::from("no prompts yet; to add one: ").bare(HintCommand::Lepo(add));
        context.print_hint(hint.text(", or ").bare(HintCommand::Lepo(edit)));
    }
    let left_out = skills.warnings.iter().filter(|notice| matches!(notice, Notice::LeftOut(..)));
    left_out.flat_map(|notice| notice_lines(notice, context.at)).for_each(|line| print_status(&line));
    let mut rows = Vec::new();
    for one in prompts {
        let text = one.prompt.as_ref().map(|prompt| prompt.text.as_str()).unwrap_or_default();
        let origin = match (one.of_store, one.counts) {
            (true, true) => "store",
            (true, false) => "not trusted",
            (false, _) => "user",
        };
        rows.push(([one.name.clone(), format!("({origin})")], text));
    }
    for (Skill { name, description, folder, .. }, counts) in each() {
        let trusted = if counts { "" } else { ", not trusted" };
        let dir = one_line(&folder.to_string_lossy());
        rows.push(([name.clone(), format!("(skill{trusted}, {dir})")], description.as_str()));
    }
    let columns = context.out.columns();
    let table = Table::new(&COLUMNS, 2, rows.iter().map(|(cells, _)| cells), columns);
    for (cells, text) in &rows {
        let line = match columns {
            None => format!("{}  {}", cells.join("  "), excerpt(text)),
            Some(_) => table.row(cells, |room| excerpt_within(text, room)),
        };
        context.out.line(line.trim_end());
    }
    Ok(0)
}

/// A single document: saved prompts, and skills.
#[derive(Serialize, JsonSchema)]
pub struct PromptsDocument<'d> {
    prompts: Vec<PromptRow<'d>>,
    skills: Vec<SkillRow<'d>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct PromptRow<'d> {
    name: &'d str,
    path: Cow<'d, str>,
    /// Whether it belongs to the store.
    store: bool,
    /// Whether it is used: the user's own, or trusted.
    counts: bool,
    model: Option<&'d str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct SkillRow<'d> {
    name: &'d str,
    description: &'d str,
    /// Its SKILL.md.
    path: Cow<'d, str>,
    /// Whether it belongs to the git repository.
    repository: bool,
    /// Whether it is used: the user's own, or trusted.
    counts: bool,
}

impl<'d> PromptRow<'d> {
    fn new(listed: &'d ListedPrompt) -> PromptRow<'d> {
        PromptRow {
            name: &listed.name,
            path: listed.path.to_string_lossy(),
            store: listed.of_store,
            counts: listed.counts,
            model: listed.prompt.as_ref().and_then(|prompt| prompt.model.as_deref()),
        }
    }
}

impl<'d> SkillRow<'d> {
    fn new(skill: &'d Skill, counts: bool) -> SkillRow<'d> {
        SkillRow {
            name: &skill.name,
            description: &skill.description,
            path: skill.file.path.to_string_lossy(),
            repository: skill.origin == SkillOrigin::Repository,
            counts,
        }
    }
}
