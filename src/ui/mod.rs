//! The output of turns: the views of a turn and of a group turn, the question for consent, the documents of
//! `--json` and the lines of `--events`, notes. One-shot `do` and a session share it.

mod agent_permission;
mod answer;
mod changed_files;
mod changes;
mod consent;
mod display_options;
mod document;
mod event_document;
mod events;
mod form;
mod group;
mod history;
mod incomplete_answers;
mod message;
mod model_rows;
mod models;
mod new_model;
mod notes;
mod notices;
mod outcome;
mod output_preview;
mod permission;
mod person;
mod replay;
mod shared_view;
mod short_ids;
mod signs;
mod start_question;
mod state;
mod status_lines;
mod stop_point;
mod thinking;
mod tools;
mod turn;
mod waiting;

pub use agent_permission::agent_text;
pub use answer::{ChoicePrompt, PromptChoice};
pub use changed_files::changed_text;
pub use changes::{branch_changes, change_branches, change_title, lock_changes, make_branch};
pub use display_options::DisplayOptions;
pub use document::{GroupDocument, TurnDocument};
pub use event_document::{EndFields, EventDocument};
pub use events::{EventLines, SharedEvents};
pub use group::GroupTurnView;
pub use history::{show_past, warn_incomplete, warn_incomplete_start};
pub use incomplete_answers::ended_early;
pub use message::{MessageView, copy_bubb};
pub use models::{
    ModelFields, activate_model, embedded_in, is_removable, known_models, listed_models, offered_line,
    offered_names, pager_choice, reading_settings, removable_models,
};
pub use new_model::{PartialModel, add_model, answers};
pub use notes::{
    insts_with_warnings, labelled_or_warn, note_branch, note_dropped, note_ends, note_skipped_request,
    note_system_prompt, read_request, text_or_warn, waiting_at, warn_of_ahead, with_kept_question,
};
pub use notices::{explained_notices, notice_lines, print_server_notices};
pub use outcome::{bubbs_to_read, headings, print_ids, set_apart};
pub use permission::{in_fence, permission_text, request_title};
pub use replay::ReplayRows;
pub use shared_view::SharedView;
pub use short_ids::ShortIds;
pub use start_question::{agree_to_start, fenced_about, folder_name, programs_line, start_title};
pub use state::{ViewEvent, ViewState};
pub use status_lines::{named_position, place_line, usage_line};
pub use stop_point::StopPoint;
pub use tools::tool_table;
pub use turn::TurnView;
pub use waiting::show_starts;
