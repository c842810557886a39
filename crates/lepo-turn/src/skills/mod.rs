//! Skills: folders with a `SKILL.md`, whose instructions a model or the user asks for by name.
//!
//! | module | content |
//! |---|---|
//! | [`front_matter`] | the front matter of a `SKILL.md`: YAML, and what its faults are |
//! | [`check`] | the faults of a skill according to the published rules |
//! | [`find`] | the skills of the user and of the repository |
//! | [`text`] | the bubbs with the catalogue, and with the instructions of a skill |
//! | [`tool`] | the tool `skill` |

mod check;
mod find;
mod front_matter;
mod text;
mod tool;
mod turn;

pub use check::{check_skill, is_skill};
pub use find::{Skill, SkillOrigin, Skills};
pub(crate) use text::called_instructions;
pub use tool::files_of;
pub(crate) use turn::{
    answer_skill_call, catalogue, find_skills, named_skill, offer_former_skills, readable_skills, skill_tool,
    skills_to_store, store_skills,
};

/// File names, in order of preference.
pub const FILES: [&str; 2] = ["SKILL.md", "skill.md"];

/// Maximum bytes of a `SKILL.md`.
pub const MOST_FILE: usize = 256 << 10;
