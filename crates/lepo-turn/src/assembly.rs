//! Assembles a request to a model from a path: which messages, tools and schema it has. No I/O.

use std::borrow::Cow;

use super::context::{Inst, instruction, messages};
use super::message::{CallGroup, Message};
use super::schema::{AnswerSchema, add_code_only, add_instruction};
use super::stopped_answer::trim_part;
use super::stored_calls::calls_for;
use super::tools::ToolList;
use lepo_base::role::Role;
use lepo_model::{AgentContext, ChatMessage, ChatRequest, ConversationFormat, Schema, ToolSpec};

/// To a model that may call none of the tools that its messages describe.
pub const ENDED: &str = "no tool can be called any more for this question: answer with what there is";

/// The reply that a request asks for.
#[derive(Clone, Copy)]
pub enum Purpose<'a> {
    /// The answer, or calls before it. The instructions of its schema and of `--code` are last, unless the conversation has
    /// them.
    Answer { schema: Option<&'a AnswerSchema>, code_only: bool, may_call: bool, has_form: bool },
    /// A decision of the planner.
    Plan { inst: Option<&'a str>, schema: Option<&'a Schema> },
    /// A summary of the first `covered` messages.
    Summary { inst: &'a str, covered: usize },
}

/// The model of a request.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// The form in which it receives a conversation.
    pub form: ConversationFormat,
    /// The inst `general`.
    pub general: Option<&'a str>,
    /// The instructions of chooser and writer, if its system prompt has them.
    pub plans: Option<&'a str>,
    /// Whether its provider may search the web.
    pub web: bool,
    /// Whether its options make the provider search.
    pub searches: bool,
}

/// A request, except the fields that need the store.
pub struct Assembly<'a> {
    pub messages: Vec<ChatMessage>,
    pub tools: &'a [ToolSpec],
    pub tools_ended: bool,
    pub schema: Option<&'a Schema>,
    pub web: bool,
}

impl Assembly<'_> {
    pub fn request<'r>(&'r self, cache_key: Option<&'r str>, agent: AgentContext<'r>) -> ChatRequest<'r> {
        let Assembly { messages, tools, tools_ended, schema, web } = self;
        ChatRequest {
            messages,
            schema: *schema,
            tools,
            tools_ended: *tools_ended,
            agent,
            web: *web,
            cache_key,
        }
    }
}

/// Assembles a request from the messages of a path and its answers with calls.
pub fn assemble<'a>(
    path: &[Message],
    calls: &[CallGroup],
    purpose: Purpose<'a>,
    tools: &'a ToolList,
    target: Target<'_>,
) -> Assembly<'a> {
    let (lists_tools, blocks) = (!tools.is_nothing(), tools.blocks.as_deref());
    let (calls, form) = calls_for(lists_tools, path, calls, target.form);
    let end = prompt_end(target.plans, blocks);
    match purpose {
        Purpose::Answer { schema, code_only, may_call, has_form } => {
            let mut messages = messages(path, calls, Inst::General(target.general), form, end.as_deref());
            if blocks.is_some() && !may_call {
                messages.push(instruction(ENDED));
            }
            trim_part(&mut messages);
            if !has_form {
                if let Some(schema) = schema {
                    add_instruction(&mut messages, form, &schema.instruction());
                }
                if code_only {
                    add_code_only(&mut messages);
                }
            }
            // Some servers apply the schema to calls too, so that no call of a server's tool or of the provider's search is
            // possible.
            let may_hold = !tools.offer.calls && !target.searches;
            let tools_ended = !may_call || !lists_tools;
            let schema = schema.filter(|_| tools_ended || may_hold).map(|schema| &schema.in_request);
            Assembly { messages, tools: &tools.specs, tools_ended, schema, web: target.web }
        }
        Purpose::Plan { inst, schema } => {
            let messages = messages(path, calls, Inst::Planner(inst), form, target.plans);
            Assembly { messages, tools: &[], tools_ended: false, schema, web: target.web }
        }
        Purpose::Summary { inst, covered } => {
            let calls = if lists_tools { calls } else { &[] };
            let calls =
                calls.get(..calls.partition_point(|answer| answer.index < covered)).unwrap_or_default();
            let path = path.get(..covered).unwrap_or_default();
            let mut messages = messages(path, calls, Inst::Planner(Some(inst)), form, end.as_deref());
            if form == ConversationFormat::Plain {
                messages.push(ChatMessage::new(Role::User, inst));
            }
            Assembly { messages, tools: &tools.specs, tools_ended: true, schema: None, web: false }
        }
    }
}

/// Returns the messages of a path as an answer's request begins with them, without what depends on its question.
pub fn path_messages(
    path: &[Message],
    calls: &[CallGroup],
    tools: &ToolList,
    target: Target<'_>,
) -> Vec<ChatMessage> {
    let (calls, form) = calls_for(!tools.is_nothing(), path, calls, target.form);
    let end = prompt_end(target.plans, tools.blocks.as_deref());
    messages(path, calls, Inst::General(target.general), form, end.as_deref())
}

/// Returns the end of the system prompt: chooser and writer, and the tools as text, which stay last.
fn prompt_end<'a>(plans: Option<&'a str>, blocks: Option<&'a str>) -> Option<Cow<'a, str>> {
    match (plans, blocks) {
        (Some(plans), Some(blocks)) => Some(Cow::Owned(format!("{plans}\n\n{blocks}"))),
        (plans, blocks) => plans.or(blocks).map(Cow::Borrowed),
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::FOR_QUESTION;
    use super::super::message::fixture::path;
    use super::super::native::run_command;
    use super::super::schema::CODE_ONLY;
    use super::super::tools::ToolOffer;
    use super::*;
    use ConversationFormat::{Messages, Plain, Prompted};

    /// The text of the last message, the number of messages, and the other fields in a line.
    fn line(made: &Assembly<'_>) -> String {
        let last = made.messages.last().map(|last| last.text.to_string()).unwrap_or_default();
        let flag = |is: bool, name: &'static str| if is { name } else { "-" };
        let schema = made.schema.map_or("-", |schema| schema.name.as_str());
        let (ended, web) = (flag(made.tools_ended, "ended"), flag(made.web, "web"));
        let in_words = made.messages.iter().any(|message| message.text.contains("BLOCKS"));
        let words = if in_words { " words" } else { "" };
        format!("{} {last} | {} {ended} {schema} {web}{words}", made.messages.len(), made.tools.len())
    }

    #[test]
    fn requests_of_a_path_differ_in_these_points_alone() {
        let schema = AnswerSchema::compile("x", "true").unwrap();
        let asked = format!("G\n\n{}", schema.instruction());
        let planned = Schema { name: "choice".into(), schema: true.into() };
        let native = ToolList { specs: vec![run_command()], ..ToolList::default() };
        let offer = ToolOffer { calls: true, ..ToolOffer::default() };
        let of_server = ToolList { offer, specs: vec![run_command()], ..ToolList::default() };
        let words = ToolList { offer, blocks: Some("BLOCKS".into()), ..ToolList::default() };
        let none = ToolList::default();
        let has_form = false;
        let answer = |schema, may_call| Purpose::Answer { schema, code_only: false, may_call, has_form };
        let (plain, formed) = (answer(None, true), answer(Some(&schema), true));
        let plan = Purpose::Plan { inst: Some("PLAN"), schema: Some(&planned) };
        let summary = |covered| Purpose::Summary { inst: "SUM", covered };
        let code = Purpose::Answer { schema: None, code_only: true, may_call: true, has_form };
        let in_path =
            Purpose::Answer { schema: Some(&schema), code_only: true, may_call: true, has_form: true };
        let call = r#"a1 {"access":"read","command":"ls"} / t1 r"#;
        let asked_in_form = format!("s1 P / s1 {FOR_QUESTION}\nFORM / u0 q");
        let (short, long) = ("s1 P / u0 q".to_string(), format!("s1 P / u0 q / {call} / a0 x / u0 r"));
        for (text, purpose, tools, form, expected) in [
            (&short, plain, &none, Messages, "3 G | 0 ended - web".to_string()),
            (&short, plain, &native, Messages, "3 G | 1 - - web".into()),
            (&short, formed, &native, Messages, format!("3 {asked} | 1 - answer web")),
            // Not in a field beside the tools of servers, until none may be called.
            (&short, formed, &of_server, Messages, format!("3 {asked} | 1 - - web")),
            (
                &short,
                answer(Some(&schema), false),
                &of_server,
                Messages,
                format!("3 {asked} | 1 ended answer web"),
            ),
            (&short, answer(None, false), &of_server, Messages, "3 G | 1 ended - web".into()),
            (&short, plain, &words, Prompted, "3 G | 0 - - web words".into()),
            (&short, answer(None, false), &words, Prompted, format!("4 {ENDED} | 0 ended - web words")),
            // The conversation has the words of the schema, so they are not repeated.
            (&asked_in_form, in_path, &none, Messages, "4 G | 0 ended answer web".into()),
            (&short, code, &none, Plain, format!("2 q\n\n{CODE_ONLY} | 0 ended - web")),
            (&short, plan, &none, Messages, "3 PLAN | 0 - choice web".into()),
            (&short, plan, &none, Plain, "2 q | 0 - choice web".into()),
            // A planner never reads of tools.
            (&short, plan, &words, Prompted, "3 PLAN | 0 - choice web".into()),
            (&short, summary(2), &native, Messages, "3 SUM | 1 ended - -".into()),
            (&short, summary(2), &none, Plain, "3 SUM | 0 ended - -".into()),
            (&short, summary(2), &words, Prompted, "3 SUM | 0 ended - - words".into()),
            // Earlier calls are calls where tools are listed, and a summary has the covered messages alone.
            (&long, plain, &native, Messages, "7 G | 1 - - web".into()),
            (&long, plan, &none, Messages, "7 PLAN | 0 - choice web".into()),
            (&long, summary(4), &native, Messages, "5 SUM | 1 ended - -".into()),
        ] {
            let target = Target { form, general: Some("G"), plans: None, web: true, searches: false };
            let made = assemble(&path(text), &[], purpose, tools, target);
            assert_eq!(line(&made), expected, "{text} {form:?}");
        }
        let target = Target { form: Messages, general: None, plans: None, web: true, searches: true };
        assert!(assemble(&path(&short), &[], formed, &native, target).schema.is_none());
        let target = Target { form: Prompted, plans: Some("PLANS"), ..target };
        for (purpose, tools, expected) in [
            (plain, &none, "P\n\nPLANS"),
            (plain, &words, "P\n\nPLANS\n\nBLOCKS"),
            (summary(2), &words, "P\n\nPLANS\n\nBLOCKS"),
            (plan, &words, "P\n\nPLANS"),
        ] {
            let made = assemble(&path(&short), &[], purpose, tools, target);
            assert_eq!(made.messages[0].text.to_string(), expected);
        }
    }
}
