//! Masks secrets in imported texts by format alone, and without the digits that depend on a key, so that the
//! ids of an import are equal on every machine. The user's own messages stay unmasked, and so do texts that
//! lepo exported.

use std::borrow::Cow;
use std::sync::OnceLock;

use lepo_import::{Role, What};
use lepo_secrets::Masker;

fn masked(text: &str) -> Cow<'_, str> {
    static MASKER: OnceLock<Masker> = OnceLock::new();
    MASKER.get_or_init(Masker::for_imports).mask(text).text
}

pub fn mask(what: &mut What) {
    let text = match what {
        What::Call { input, .. } => input,
        What::Output { text, .. } | What::System(text) => text,
        What::Text(role, text, _) | What::Aside(role, text) | What::Side(role, text)
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
        let after = |mut what: What| {
            mask(&mut what);
            match what {
                What::Output { text, .. } | What::Text(_, text, _) | What::System(text) => text,
                _ => String::new(),
            }
        };
        let output = What::Output { call: String::new(), text: text.clone(), files: Vec::new() };
        assert_eq!(after(output), "key [secret: anthropic-key] end");
        let of = |role| What::Text(role, text.clone(), Vec::new());
        assert_eq!(after(of(Role::Assistant)), "key [secret: anthropic-key] end");
        assert_eq!(after(of(Role::User)), text);
        assert_eq!(after(What::System(text)), "key [secret: anthropic-key] end");
    }
}
