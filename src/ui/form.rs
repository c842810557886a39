//! A server's own question on the terminal: a form, asked field by field, or a URL to visit. The server's texts are
//! marked as quotes and follow its name.

use std::io;
use std::sync::atomic::AtomicBool;

use serde_json::Map;

use super::answer::{ChoicePrompt, PromptChoice};
use crate::term::{StatusLine, Tty, TypeAheadPause, on_terminal, print_status, quote};
use lepo_tool::mcp::{ElicitationForm, ElicitationResult, FormField, ServerQuestion};

/// Asks the user; declines without a terminal.
pub async fn fill_in(server: String, question: ServerQuestion) -> ElicitationResult {
    if question == ServerQuestion::Unknown {
        print_status(&StatusLine::note(format!(
            "server {server} asked for something that lepo cannot ask: declined"
        )));
        return ElicitationResult::Declined;
    }
    match on_terminal(move |tty, withdrawn| converse(tty, &server, &question, withdrawn)).await {
        Ok(answer) => answer.unwrap_or(ElicitationResult::Declined),
        Err(error) => {
            print_status(&error.chain());
            ElicitationResult::Cancelled
        }
    }
}

fn converse(
    tty: &mut Tty,
    server: &str,
    question: &ServerQuestion,
    withdrawn: &AtomicBool,
) -> io::Result<ElicitationResult> {
    // Input typed before the question belongs to the session's prompt.
    let _asking = TypeAheadPause::pause();
    tty.show(&text(server, question, tty.columns()))?;
    match question {
        ServerQuestion::Form(form) => fill(tty, form, withdrawn),
        ServerQuestion::Visit(..) => {
            let offer = ChoicePrompt::new("Have you visited it, or will you?", &[]);
            Ok(match confirm_form(tty, &offer, withdrawn)? {
                Some(true) => ElicitationResult::Visited,
                Some(false) => ElicitationResult::Declined,
                None => ElicitationResult::Cancelled,
            })
        }
        ServerQuestion::Unknown => Ok(ElicitationResult::Declined),
    }
}

/// Returns the server's name and its request.
fn text(server: &str, question: &ServerQuestion, columns: usize) -> String {
    let mut text = String::from("\nMCP server asks\n");
    text.push_str(&quote("Server: ", server, columns));
    match question {
        ServerQuestion::Form(form) => text.push_str(&quote("Says: ", form.message.trim(), columns)),
        ServerQuestion::Visit(message, url) => {
            text.push_str(&quote("Says: ", message.trim(), columns));
            text.push_str(&quote("Asks you to visit: ", url.host_str().unwrap_or_default(), columns));
            text.push_str(&quote("Address: ", url.as_str(), columns));
            text.push_str("lepo does not open it.\n");
        }
        ServerQuestion::Unknown => {}
    }
    text
}

fn fill(tty: &mut Tty, form: &ElicitationForm, withdrawn: &AtomicBool) -> io::Result<ElicitationResult> {
    let names: Vec<&str> = form.fields.iter().map(|field| field.title.as_str()).collect();
    let columns = tty.columns();
    tty.show(&quote("Asks for: ", &names.join(", "), columns))?;
    let offer = ChoicePrompt::new("Answer it? What you enter is sent to the server.", &[]);
    match confirm_form(tty, &offer, withdrawn)? {
        Some(true) => {}
        Some(false) => return Ok(ElicitationResult::Declined),
        None => return Ok(ElicitationResult::Cancelled),
    }
    let mut content = Map::new();
    for field in &form.fields {
        tty.show(&field_text(field, columns))?;
        loop {
            let Some(entered) = tty.ask("> ", withdrawn)? else { return Ok(ElicitationResult::Cancelled) };
            match field.value(&entered) {
                Ok(value) => {
                    content.extend(value.map(|value| (field.name.clone(), value)));
                    break;
                }
                Err(why) => tty.show(&quote("  ", &why, columns))?,
            }
        }
    }
    Ok(ElicitationResult::Filled(content))
}

fn confirm_form(tty: &mut Tty, offer: &ChoicePrompt, withdrawn: &AtomicBool) -> io::Result<Option<bool>> {
    loop {
        tty.forget_typed();
        let Some(answer) = tty.ask(&offer.question(), withdrawn)? else { return Ok(None) };
        match offer.read(&answer) {
            Some(choice) => return Ok(Some(choice == PromptChoice::Yes)),
            None => tty.show(&format!("{}\n", offer.letters()))?,
        }
    }
}

fn field_text(field: &FormField, columns: usize) -> String {
    let mut text = String::from("\n");
    text.push_str(&quote("Field: ", &field.title, columns));
    if let Some(description) = &field.description {
        text.push_str(&quote("  ", description, columns));
    }
    let default = field.default.as_ref().map(|default| match default.as_str() {
        Some(default) => format!("; Enter for {default}"),
        None => format!("; Enter for {default}"),
    });
    let empty = if field.required { "" } else { "; Enter skips it" };
    text.push_str(&quote(
        "  ",
        &format!("{}{}", field.expected(), default.as_deref().unwrap_or(empty)),
        columns,
    ));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_words_of_a_server_look_like_lepos_own() {
        let evil = "x\nServer: bank\nAnswer it? [y]es [n]o ";
        let form = json!({"message": evil, "requestedSchema": {"properties": {
            "a": {"type": "string", "title": evil, "description": evil, "default": evil},
        }}});
        let question = ServerQuestion::read(&form);
        let ServerQuestion::Form(ElicitationForm { fields, .. }) = &question else { panic!() };
        let shown = text(evil, &question, 80) + &field_text(&fields[0], 80);
        let own: Vec<&str> = shown.lines().filter(|line| !line.starts_with("  | ")).collect();
        assert!(own.iter().filter(|line| line.starts_with("Server:")).count() == 1, "{shown}");
        assert!(!own.iter().any(|line| line.starts_with("Answer it?")), "{shown}");
    }
}
