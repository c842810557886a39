//! The first request of a turn, built like the turn would build it, but without writing, running, starting or
//! sending anything.

use serde_json::{Map, Value};

use super::assembly::{Assembly, Purpose, assemble};
use super::former_tools::{former_offer, tool_list};
use super::message::NewMessage;
use super::next_question::has_form;
use super::opening::{opening, question_message};
use super::opening_parts::{add_last_parts, add_unknown_parts, parts_before_commands};
use super::plan::planner_insts;
use super::planner::choice_schema;
use super::shared_prefix::SharedPrefix;
use super::tools::ToolOffer;
use super::turn::{Turn, TurnResources};
use super::turn_path::TurnPath;
use super::{Notice, TurnEnv, TurnEvent, TurnRequest, View};
use crate::config::{Insts, is_general_as_made};
use lepo_base::error::Result;
use lepo_base::media::Media;
use lepo_model::{AgentContext, ApiKey, ChatMessage, Gate, ModelConfig, Planner, Schema, ToolSpec};
use lepo_store::conv::Forest;

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
    /// Whether the user's own text of `general` is sent, as in every request.
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
    view: &mut dyn View,
    mut ask: TurnRequest,
) -> Result<FirstRequest> {
    ask.prepare(env, config)?;
    let gate = Gate::new();
    // Does not run a program for a key that is not needed.
    let keyless = ModelConfig { key: ApiKey::default(), ..config.clone() };
    let mut model = env.configured.model(&keyless, env.settings().http_idle, gate.clone())?;
    let path = TurnPath::at(&env.store, forest, ask.start, &env.masking)?;
    let mut servers = env.servers_of_turns().await;
    let resources = TurnResources { model: &mut model, gate, servers: &mut servers, view };
    let mut turn = Turn::new(env, (config, insts), resources, path, forest, &mut ask);
    request_of(&mut turn, ask)
}

fn request_of(turn: &mut Turn<'_>, ask: TurnRequest) -> Result<FirstRequest> {
    let files = ask.question.iter().flat_map(|question| &question.files);
    let files = files.map(|file| DryRunFile { media: file.media, name: file.name.clone(), len: file.len });
    let files = files.collect();
    let loaded = turn.path.messages.len();
    turn.path.sends_unmasked = ask.unmasked;
    let opening = unwritten_opening(turn, ask)?;
    turn.path.imagine(&opening);
    turn.choose_files();
    let planner = turn.planner();
    let may = turn.may_have_tools();
    let plans = may && planner == Planner::Chooser;
    if may && !plans {
        turn.servers.load_cached_lists();
        for notice in turn.servers.unsaid() {
            turn.view.on_event(TurnEvent::Notice(&Notice::Server(notice)));
        }
    }
    let calls = may && !plans;
    let offer = ToolOffer::new(calls, planner, turn.servers, false);
    let offer = former_offer(turn)?.unwrap_or(offer);
    let tools = tool_list(turn, offer);
    let (choice, (chooser, _)) = (choice_schema(), planner_insts(turn));
    let purpose = match plans {
        true => Purpose::Plan { inst: chooser.as_deref(), schema: Some(&choice) },
        false => Purpose::Answer {
            schema: turn.schema.as_deref(),
            code_only: turn.code_only,
            may_call: !offer.has_ended,
            has_form: has_form(&turn.path.messages),
        },
    };
    let path = &turn.path;
    let assembly = assemble(&path.messages, &path.call_groups, purpose, &tools, turn.target());
    let prefix = SharedPrefix::new(turn, loaded, &tools).filter(|_| !plans);
    let general = turn.insts.general.as_deref();
    let own_general = general.is_some_and(|text| !plans && !is_general_as_made(text));
    let fields = turn.model.fields(assembly.request(None, AgentContext::default()));
    let not_asked = turn.servers.each().iter().filter(|server| calls && !server.is_known());
    let not_asked = not_asked.map(|server| server.config.name.clone()).collect();
    let Assembly { messages, schema, .. } = assembly;
    let schema = schema.cloned();
    Ok(FirstRequest {
        messages,
        files,
        tools: tools.specs,
        calls_nothing: offer.has_ended,
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
    parts.question =
        ask.question.map(|question| question_message(masking, question.text, &question.typed_ranges));
    Ok(opening(parts))
}
