//! One turn, from a question to its answer: each step is stored as a bubb, and events go to a [`View`], because this
//! crate knows no terminal.
//!
//! Only [`context`] turns bubbs, which the store knows, into messages, which the models know.

mod agent_branch;
mod agent_sandbox;
mod answer_context;
mod answer_loop;
mod answer_order;
mod assembly;
pub mod attach;
mod between_turns;
mod body;
mod budget;
mod call;
mod call_fault;
mod call_filter;
mod cleanup;
mod command_runner;
pub mod config;
mod configuration;
mod context;
mod conversation;
mod decision;
mod dry_run;
mod env;
mod event;
mod fetch_attachments;
mod flow;
mod folder_questions;
mod folders;
mod former_tools;
mod general_inst;
mod group;
pub mod instructions;
mod interrupt;
mod journal;
mod masking;
mod masking_cut;
mod message;
mod model_reply;
mod native;
mod next_question;
mod notice;
mod offer_catalog;
mod opening;
mod opening_parts;
mod outcome;
mod plan;
mod planner;
mod program_changes;
mod program_start;
mod programs;
mod prompts;
mod question;
mod receive;
mod received_calls;
pub mod recorded;
pub mod replay;

mod request;
mod result_text;
mod schema;
mod schema_shorthand;
mod send;
mod server_attachments;
mod servers;
mod shared_prefix;
pub mod skills;
mod spool;
mod start;
mod start_question;
mod steering;
mod steering_texts;
mod stopped_answer;
mod store_insts;
mod stored_calls;
mod summary_cut;
mod tools;
mod turn;
mod turn_path;
mod turn_request;
mod unmask;
mod unproven;
mod user_key;
mod worktree;

pub use agent_sandbox::{AgentSandboxes, ProcessSandboxer};
pub use attach::UnsentFiles;
pub use between_turns::{run_own, store_unanswered};
pub use body::{Body, is_request_text};
pub use cleanup::{AutorunFiles, CleanupItem};
pub use command_runner::{CommandRunner, ToolResult};
pub use configuration::{Configuration, TrustedFile, server_folders};
pub use conversation::{
    Branch, BranchMove, Compaction, Conversation, FailedStep, GONE, NextTurn, Position, Rules, claim_request,
    compact, fill_in_time,
};
pub use decision::{Decision, Verdict};
pub use dry_run::{FirstRequest, first_request};
pub use env::TurnEnv;
pub use event::{CommandOrigin, Person, PersonAnswer, TurnEvent, View};
pub use flow::execute_turn;
pub use folder_questions::{question_of_server, question_of_servers, take_answers};
pub use group::{
    Bid, DebateModels, DebateOutcome, GroupEvent, GroupMode, GroupOutcome, GroupTurn, GroupView, Panel,
    PanelNames, Speech, debate_models, execute_group_turn, judge_name,
};
pub use interrupt::{Interrupt, is_unread};
pub use masking::{Masking, secret_values};
pub use notice::{Notice, SecretsFound};
pub use offer_catalog::OfferCatalog;

pub use outcome::{FinishedAnswer, Outcome, ToolUse};
pub use program_changes::{ChangedProgram, ProgramRole};
pub use program_start::{changed_programs, model_folders};
pub use programs::programs_of;
pub use prompts::{ListedPrompt, PromptLibrary, no_such_prompt, repo_file, repo_prompts};
pub use question::{
    BLANK_QUESTION, ContextFile, NOT_FETCHED, Question, QuestionPart, join_parts, not_utf8, text_of_bytes,
};
pub use schema::AnswerSchema;
pub use schema_shorthand::{is_short_schema, short_schema};
pub use server_attachments::{ResourceAddress, ServerContent, ServerPrompt};
pub use shared_prefix::SharedPrefix;
pub use spool::AnswerSpool;
pub use start::{StartOptions, TurnStart, being_answered, start, start_at, unanswered};
pub use start_question::StartQuestion;
pub use stopped_answer::{StoppedAnswers, thinking_alone};
pub use store_insts::{INSTS_FILE, ignored_insts, insts_of_repository, note_made, untrusted_insts};
pub use summary_cut::{KEEP, without_summary_hint};
pub use turn_path::{write_bubb, write_bubb_at, write_unproven_bubb};
pub use turn_request::TurnRequest;
pub use unmask::carry_waiting;
pub use unproven::{UnprovenMessage, agree_to_messages, unproven_messages};
pub use user_key::{key_if_there, user_prover};
pub use worktree::{WorktreeRecord, WorktreeTail, record_moved, record_used, record_worktree};
