//! `lepo prompt ls`: lists prompts and skills.

use serde_json::{Value, json};

use crate::commands::Context;
use crate::term::{excerpt, one_line, print_status};
use crate::ui::notice_lines;
use lepo_base::error::Result;
use lepo_base::hint::{Hint, HintCommand};
use lepo_turn::skills::{Skill, SkillOrigin, Skills};
use lepo_turn::{ListedPrompt, Notice};

pub fn list(
    prompts: &[ListedPrompt],
    skills: &Skills,
    as_json: bool,
    context: &mut Context<'_>,
) -> Result<u8> {
    let counting = skills.counting.iter().map(|skill| (skill, true));
    let each = || counting.clone().chain(skills.untrusted.iter().map(|skill| (skill, false)));
    if as_json {
        let prompts: Vec<Value> = prompts.iter().map(prompt_document).collect();
        let skills: Vec<Value> = each().map(|(skill, counts)| skill_document(skill, counts)).collect();
        context.out.line(&json!({ "prompts": prompts, "skills": skills }).to_string());
        return Ok(0);
    }
    if prompts.is_empty() && each().next().is_none() {
        let (add, edit) = ("prompt add NAME TEXT".to_string(), "prompt edit NAME".to_string());
        let hint = Hint::from("no prompts yet; to add one: ").bare(HintCommand::Lepo(add));
        context.print_hint(hint.words(", or ").bare(HintCommand::Lepo(edit)));
    }
    let left_out = skills.warnings.iter().filter(|notice| matches!(notice, Notice::LeftOut(..)));
    left_out.flat_map(|notice| notice_lines(notice, context.at)).for_each(|line| print_status(&line));
    for one in prompts {
        let text = one.prompt.as_ref().map(|prompt| excerpt(&prompt.text)).unwrap_or_default();
        let place = match (one.of_store, one.counts) {
            (true, true) => "store",
            (true, false) => "not trusted",
            (false, _) => "user",
        };
        context.out.line(format!("{}  ({place})  {text}", one.name).trim_end());
    }
    for (Skill { name, description, folder, .. }, counts) in each() {
        let trusted = if counts { "" } else { ", not trusted" };
        let place = one_line(&folder.to_string_lossy());
        context.out.line(&format!("{name}  (skill{trusted}, {place})  {}", excerpt(description)));
    }
    Ok(0)
}

fn prompt_document(one: &ListedPrompt) -> Value {
    json!({
        "name": one.name,
        "path": one.path.to_string_lossy(),
        "store": one.of_store,
        "counts": one.counts,
        "model": one.prompt.as_ref().and_then(|prompt| prompt.model.clone()),
    })
}

fn skill_document(skill: &Skill, counts: bool) -> Value {
    json!({
        "name": skill.name,
        "description": skill.description,
        "path": skill.file.path.to_string_lossy(),
        "repository": skill.origin == SkillOrigin::Repository,
        "counts": counts,
    })
}
