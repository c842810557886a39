//! The first request of a turn, built like the turn would build it, but without writing, running, starting or
//! sending anything.

use serde_json::{Map, Value};

use super::context::{Inst, messages};
use super::former_tools::{former_offer, tool_list};
use super::message::NewMessage;
use super::new_turn::{TurnResources, new_turn};
use super::next_question::has_form;
use super::opening::{opening, question_message};
use super::opening_parts::{add_last_parts, add_unknown_parts, parts_before_commands};
use super::planner::choice_schema;
use super::schema::{add_code_only, add_instruction};
use super::shared_prefix::SharedPrefix;
use super::stored_calls::calls_for;
use super::tools::ToolOffer;
use super::transcript::Transcript;
use super::turn::Turn;
use super::{Front, Notice, TurnEnv, TurnEvent, TurnRequest};
use crate::config::{Insts, is_general_as_made};
use lepo_base::error::Result;
use lepo_base::media::Media;
use lepo_model::{ApiKey, ChatMessage, ChatRequest, Gate, ModelConfig, Planner, Schema, ToolSpec, spec};
use lepo_store::conv::Forest;
use lepo_tool::ToolMode;

/// The first request that a turn would send.
#[derive(Debug)]
pub struct FirstRequest {
    /// Its messages, in order.
    pub messages: Vec<ChatMessage>,
    /// The new files of the question.
    pub files: Vec<DryRunFile>,
    /// The tools in fields of the model's API.
    pub tools: Vec<ToolSpec>,
    /// Whether none of them may be called.
    pub calls_nothing: bool,
    /// The schema in a field of the API, if there is one.
    pub schema: Option<Schema>,
    /// The MCP servers that would be asked for their tools first.
    pub not_asked: Vec<String>,
    /// The other fields of its body.
    pub fields: Map<String, Value>,
    /// The part that the last request of the conversation had too.
    pub prefix: Option<SharedPrefix>,
    /// Whether the user's own text of `general` goes along, as it does in each request.
    pub own_general: bool,
}

/// A file of the question.
#[derive(Debug)]
pub struct DryRunFile {
    pub media: Media,
    pub name: String,
    /// Length in bytes.
    pub len: u64,
}

/// Builds the first request of a turn.
pub async fn first_request(
    env: &TurnEnv,
    (config, insts): (&ModelConfig, &Insts),
    forest: &Forest,
    front: &mut dyn Front,
    mut ask: TurnRequest,
) -> Result<FirstRequest> {
    ask.prepare(env, config)?;
    let gate = Gate::new();
    // Does not run a program for a key that is not needed.
    let keyless = ModelConfig { key: ApiKey::default(), ..config.clone() };
    let mut model = env.configured.model(&keyless, env.settings().http_idle, gate.clone())?;
    let transcript = Transcript::at(&env.store, forest, ask.start, &env.masking)?;
    let mut servers = env.servers_of_turns().await;
    let parties = TurnResources { model: &mut model, gate, servers: &mut servers, front };
    let mut turn = new_turn(env, (config, insts), parties, transcript, forest, &mut ask);
    request_of(&mut turn, ask)
}

fn request_of(turn: &mut Turn<'_>, ask: TurnRequest) -> Result<FirstRequest> {
    let files = ask.question.iter().flat_map(|question| &question.files);
    let files = files.map(|file| DryRunFile { media: file.media, name: file.name.clone(), len: file.len });
    let files = files.collect();
    let loaded = turn.record.transcript.entries.len();
    turn.record.transcript.sends_unmasked = ask.unmasked;
    let opening = unwritten_opening(turn, ask)?;
    turn.record.transcript.imagine(&opening);
    turn.choose_files();
    let planner = turn.planner();
    let may = turn.may_have_tools();
    let plans = may && planner == Planner::Chooser;
    if may && !plans {
        turn.servers.load_cached_lists();
        for said in turn.servers.unsaid() {
            turn.front.on_event(TurnEvent::Notice(&Notice::Server(said)));
        }
    }
    let calls = may && !plans;
    let offer = ToolOffer::new(calls, planner, turn.servers, false);
    let offer = former_offer(turn)?.unwrap_or(offer);
    let told = tool_list(turn, offer);
    let (inst, form) = match plans {
        true => (Inst::Planner(turn.insts.tool_chooser.as_deref()), Some(choice_schema())),
        false => (Inst::General(turn.insts.general.as_deref()), None),
    };
    let transcript = &turn.record.transcript;
    let path = spec(turn.config).path;
    let (called, path) = calls_for(!told.is_nothing(), &transcript.entries, &transcript.called, path);
    let mut messages = messages(&transcript.entries, called, inst, path, told.blocks.as_deref());
    let prefix = SharedPrefix::new(turn, loaded, &told, &messages).filter(|_| !plans);
    let general = turn.insts.general.as_deref();
    let own_general = general.is_some_and(|text| !plans && !is_general_as_made(text));
    let answer_form = turn.schema.as_ref().filter(|_| !plans);
    let has_form = has_form(&transcript.entries);
    if let Some(schema) = answer_form.filter(|_| !has_form) {
        add_instruction(&mut messages, path, &schema.instruction());
    }
    if turn.code_only && !plans && !has_form {
        add_code_only(&mut messages);
    }
    let is_held = told.is_nothing() || !offer.calls && !turn.config.options.web;
    let in_field = answer_form.filter(|_| is_held).map(|schema| schema.in_request.clone());
    let schema = form.or(in_field);
    let request = ChatRequest {
        messages: &messages,
        tools: &told.specs,
        tools_ended: offer.ended,
        schema: schema.as_ref(),
        web: turn.env.settings().tool_call_mode != ToolMode::Off,
        ..ChatRequest::default()
    };
    let fields = turn.model.fields(request);
    let not_asked = turn.servers.each().iter().filter(|server| calls && !server.is_known());
    let not_asked = not_asked.map(|server| server.config.name.clone()).collect();
    let calls_nothing = offer.ended;
    Ok(FirstRequest {
        messages,
        files,
        tools: told.specs,
        calls_nothing,
        schema,
        not_asked,
        fields,
        prefix,
        own_general,
    })
}

/// Returns the messages that would be written before the answer.
fn unwritten_opening(turn: &mut Turn<'_>, mut ask: TurnRequest) -> Result<Vec<NewMessage>> {
    let mut parts = parts_before_commands(turn, &mut ask)?;
    let masking = &turn.env.masking.clone();
    add_unknown_parts(&mut parts, masking, &ask);
    add_last_parts(&mut parts, turn, &mut ask);
    parts.question = ask.question.map(|question| question_message(masking, question.text, &question.typed));
    Ok(opening(parts))
}
