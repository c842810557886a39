//! Masks secrets in imported texts by format alone, and without the digits that depend on a key, so that the
//! ids of an import are equal on every machine. The user's own messages stay unmasked, and so do texts that
//! lepo exported.

use std::borrow::Cow;
use std::sync::OnceLock;

use lepo_base::role::Role;
use lepo_import::NodeContent;
use lepo_secrets::Masker;

fn masked(text: &str) -> Cow<'_, str> {
    static MASKER: OnceLock<Masker> = OnceLock::new();
    MASKER.get_or_init(Masker::for_imports).mask(text).text
}

pub fn mask(what: &mut NodeContent) {
    let text = match what {
        NodeContent::Call { input, .. } => input,
        NodeContent::Output { text, .. } | NodeContent::System(text) => text,
        NodeContent::Text(role, text, _) | NodeContent::Aside(role, text) | NodeContent::Side(role, text)
            if *role != Role::User =>
        {
            text
        }
        _ => return,
    };
    if let Cow::Owned(masked) = masked(text) {
        *text = masked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_and_system_prompts_are_masked_and_the_users_words_are_not() {
        let key = format!("sk-{}-api03-{}", "ant", "aZ7Or0xhGfxTEUQXbx6Ppv9AVlolLA1z");
        let text = format!("key {key} end");
        let after = |mut what: NodeContent| {
            mask(&mut what);
            match what {
                NodeContent::Output { text, .. }
                | NodeContent::Text(_, text, _)
                | NodeContent::System(text) => text,
                _ => String::new(),
            }
        };
        let output = NodeContent::Output { call: String::new(), text: text.clone(), files: Vec::new() };
        assert_eq!(after(output), "key [secret: anthropic-key] end");
        let node = |role| NodeContent::Text(role, text.clone(), Vec::new());
        assert_eq!(after(node(Role::Assistant)), "key [secret: anthropic-key] end");
        assert_eq!(after(node(Role::User)), text);
        assert_eq!(after(NodeContent::System(text)), "key [secret: anthropic-key] end");
    }
}
