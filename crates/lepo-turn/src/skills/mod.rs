//! Skills: folders with a `SKILL.md`, whose instructions a model or the user asks for by name.
//!
//! | module | holds |
//! |---|---|
//! | [`front_matter`] | the head of a `SKILL.md`, read strictly and leniently at once |
//! | [`check`] | the faults that the published rules see in one |
//! | [`find`] | the skills of the user and of the repository |
//! | [`skill_file`] | its name and its largest size |
//! | [`told`] | the bubbs that tell a model of skills, and give one |
//! | [`tool`] | the tool `skill` |

mod check;
mod find;
mod front_matter;
mod lines;
mod skill_file;
mod told;
mod tool;
mod turn;

pub use check::{check_skill, is_skill};
pub use find::{Origin, Skill, Skills};
pub(crate) use told::{is_catalogue, is_catalogue_entry, is_of_skills};
pub use tool::files_of;
pub(crate) use turn::{
    catalogue, find_skills, gives_skill, keep_skills, kept_skills, named_skill, readable_skills, skill_tool,
};
