//! The forms of hints in each frontend.

use super::*;

/// A shell with `-s 'a b'`.
const STORE: HintTarget<'static> = HintTarget::Shell(Some("-s 'a b'"));

#[test]
fn each_front_has_its_words_for_a_command() {
    for (hint, shell, store, session) in [
        (Hint::from("look"), "look", "look", "look"),
        (
            Hint::from("`lepo fsck` names them; `lepo ls` too"),
            "`lepo fsck` names them; `lepo ls` too",
            "`lepo -s 'a b' fsck` names them; `lepo -s 'a b' ls` too",
            "`lepo fsck` names them; `lepo ls` too",
        ),
        (
            Hint::from("`base_url` as `lepo config` shows it, and `lepo"),
            "`base_url` as `lepo config` shows it, and `lepo",
            "`base_url` as `lepo -s 'a b' config` shows it, and `lepo",
            "`base_url` as `lepo config` shows it, and `lepo",
        ),
        (
            Hint::from("look again: lepo rm -n ADDR"),
            "look again: lepo rm -n ADDR",
            "look again: lepo -s 'a b' rm -n ADDR",
            "look again: lepo rm -n ADDR",
        ),
        (Hint::from("lepo do --help"), "lepo do --help", "lepo -s 'a b' do --help", "lepo do --help"),
        (
            Hint::from("`lepo ls` lists them: lepo says `more"),
            "`lepo ls` lists them: lepo says `more",
            "`lepo -s 'a b' ls` lists them: lepo says `more",
            "`lepo ls` lists them: lepo says `more",
        ),
        (
            Hint::from("ask something first: ").bare(HintCommand::Ask),
            "ask something first: lepo do QUESTION",
            "ask something first: lepo -s 'a b' do QUESTION",
            "ask something first: type a question",
        ),
        (
            Hint::from(ResumeAction::Retry).text(", or ").command(HintCommand::OtherModel),
            "`lepo do --retry`, or -m NAME",
            "`lepo -s 'a b' do --retry`, or -m NAME",
            "/retry, or /model NAME",
        ),
        (
            Hint::default()
                .bare(ResumeAction::Approve("A".into()))
                .text("\n")
                .bare(ResumeAction::Deny("A".into())),
            "lepo do --approve A\nlepo do --deny A",
            "lepo -s 'a b' do --approve A\nlepo -s 'a b' do --deny A",
            "lepo do --approve A\nlepo do --deny A",
        ),
        (
            Hint::from("again").either(HintCommand::Models, ", /set-model").text("."),
            "again`lepo model ls`.",
            "again`lepo -s 'a b' model ls`.",
            "again, /set-model.",
        ),
        (
            Hint::default().bare(HintCommand::Prompt("a b".into())),
            "lepo do -T 'a b' WORDS...",
            "lepo -s 'a b' do -T 'a b' WORDS...",
            "/a b WORDS...",
        ),
        (
            Hint::from(HintCommand::Tools)
                .text(" ")
                .command(HintCommand::List)
                .text(" ")
                .command(ResumeAction::Compact),
            "`lepo do --list-tools` `lepo ls` `lepo do --compact`",
            "`lepo -s 'a b' do --list-tools` `lepo -s 'a b' ls` `lepo -s 'a b' do --compact`",
            "/mcp /ls /compact",
        ),
        (
            Hint::from(HintCommand::Context).text(" ").command(HintCommand::Tail),
            "--context FILE --tail",
            "--context FILE --tail",
            "/file PATH /tail",
        ),
    ] {
        assert_eq!(hint.render(HintTarget::SHELL), shell);
        assert_eq!(hint.render(STORE), store);
        assert_eq!(hint.render(HintTarget::Session), session);
    }
}

#[test]
fn a_command_that_goes_on_names_the_same_models_and_the_same_place() {
    let models = [("-m", "a".to_string()), ("-m", "b c".to_string())];
    for (act, models, branch, question, expected) in [
        (ResumeAction::Retry, &models[..1], None, None, "do -m a --retry"),
        (ResumeAction::Retry, &models, Some("it's"), None, "do -m a -m 'b c' --tail \"it's\" --retry"),
        (ResumeAction::Retry, &[], None, Some("T"), "do --tail T --retry"),
        (ResumeAction::RetryAll, &models, Some("main"), Some("T"), "do -m a -m 'b c' --parallel --retry"),
        (
            ResumeAction::Approve("A".into()),
            &models[..1],
            Some("main"),
            None,
            "do -m a --tail main --approve A",
        ),
        (ResumeAction::Approve("A".into()), &[], None, Some("T"), "do --approve A"),
        (ResumeAction::Deny("A".into()), &[], Some("main"), Some("T"), "do --tail main --deny A"),
        (ResumeAction::Debate("T".into()), &models[1..], Some("main"), None, "do -m 'b c' --debate --tail T"),
        (ResumeAction::Compact, &models[..1], Some("main"), Some("T"), "do -m a --compact"),
        (ResumeAction::Recorded, &models[..1], Some("main"), Some("T"), "do -m a --recorded"),
    ] {
        let mut hint = Hint::from("first ").command(act.clone()).text(" then");
        hint.resuming(|resume| {
            resume.name_models(models);
            branch.iter().for_each(|branch| resume.name_branch(branch));
            question.iter().for_each(|question| resume.name_question(question));
        });
        assert_eq!(hint.render(HintTarget::SHELL), format!("first `lepo {expected}` then"));
        assert_eq!(hint.suggests_retry(), act == ResumeAction::Retry, "{act:?}");
    }
}

#[test]
fn a_key_is_asked_for_by_a_value_and_words_can_be_hidden() {
    let mut hint = Hint::no_key("m");
    assert!(hint.wants_key() && !Hint::from("no key is configured for model").wants_key());
    assert_eq!(
        hint.render(HintTarget::SHELL),
        "no key is configured for model \"m\": set `api_key_env` or `api_key`"
    );
    hint = hint.text(" m, `lepo model rm m`, ").command(ResumeAction::Approve("m".into()));
    hint.map_words(|words| words.replace('m', "…"));
    assert!(
        hint.render(HintTarget::SHELL).ends_with(" …, `lepo …odel r… …`, `lepo do --approve m`"),
        "{}",
        hint.render(HintTarget::SHELL)
    );
}
