//! Which options of `lepo do` cannot be used together, and which need another one. The parser refuses what the tables say.

use super::DoArgs;
use lepo_base::error::{Error, Result};

/// The options that ask for another job than a question, in the order of the letters of a row.
const JOBS: &[&str] = &[
    "retry",
    "approve",
    "deny",
    "compact",
    "parallel",
    "debate",
    "replay",
    "dry_run",
    "list_tools",
    "context_files",
    "acp",
    "proxy",
];

/// Each option with the first letters of the jobs that have no use for it. (`--parallel` and `--debate` are a group of the
/// parser.)
const OPTIONS: &[(&str, &str)] = &[
    ("prompt", "rad...r.lc.."),
    ("file", "radc..r.lcap"),
    ("context", "radc..r.lcap"),
    ("attach", "radc..r.lcap"),
    ("run", ".adc..r.lc.p"),
    ("system", "radc....l..p"),
    ("template", "radc..r.l.ap"),
    ("server_prompt", "radcpdr.l.ap"),
    ("new", "radc..r.lcap"),
    ("tail", "......r.lc.p"),
    ("retry", ".adc..r.lcap"),
    ("compact", "rad.pdrdlcap"),
    ("model", ".....d.....p"),
    ("context_files", "radcpd.dl..p"),
    ("list_tools", "radc..rd.cap"),
    ("approve", "r.dcpdrdlcap"),
    ("deny", "ra.cpdrdlcap"),
    ("show_past", "......r...ap"),
    ("dry_run", ".adcpdr.lcap"),
    ("json", "...c.....ca."),
    ("events", "...c..rdlcap"),
    ("output", "...c..rd..ap"),
    ("parallel", ".adc..rd.c.p"),
    ("debate", ".adc..rd.c.p"),
    ("judge", ".....d......"),
    ("orchestrator", "....p......."),
    ("schema", "...c..r...ap"),
    ("code", "...cpd.dl..p"),
    ("line", "...cpd..l.a."),
    ("continue", "....pdr....p"),
    ("no_keep", "radc..r.l..p"),
    ("recorded", "......r....."),
    ("replay", "radcpd.dl..p"),
    ("acp", "radc...dl..p"),
    ("proxy", "radcpdrdlca."),
];

/// Pairs that concern no job.
const PAIRS: &[(&str, &str)] = &[
    ("new", "tail"),
    ("new", "continue"),
    ("no_keep", "tail"),
    ("no_keep", "continue"),
    ("template", "server_prompt"),
    ("system", "onto"),
    ("system", "teacher"),
    ("onto", "teacher"),
    ("model", "participants"),
    ("json", "events"),
    ("json", "code"),
    ("json", "line"),
    ("events", "code"),
    ("events", "line"),
    ("code", "schema"),
    ("code", "line"),
    ("line", "output"),
];

/// Tells the parser which options cannot be used together.
pub fn with_conflicts(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| {
        let others = conflicts_of(arg.get_id().as_str());
        arg.conflicts_with_all(others)
    })
}

fn conflicts_of(option: &str) -> Vec<&'static str> {
    let row = OPTIONS.iter().find(|(name, _)| *name == option).map(|(_, letters)| *letters);
    let jobs = JOBS.iter().zip(row.unwrap_or_default().chars());
    let jobs = jobs.filter(|(_, letter)| *letter != '.').map(|(job, _)| *job);
    let pairs = PAIRS.iter().filter(|(one, _)| *one == option).map(|(_, other)| *other);
    jobs.chain(pairs).collect()
}

/// Whether an option is without its companion, and the names of both.
type Companion = (fn(&DoArgs) -> bool, &'static str, &'static str);

const COMPANIONS: &[Companion] = &[
    (|args| args.replay.from.is_some() && args.replay.replay.is_none(), "--from", "--replay"),
    (|args| !args.replay.onto.is_empty() && args.replay.replay.is_none(), "--onto", "--replay"),
    (|args| args.replay.teacher && args.replay.replay.is_none(), "--teacher", "--replay"),
    (|args| args.proxy.port.is_some() && !args.proxy.proxy, "--port", "--proxy"),
    (|args| args.proxy.upstream.is_some() && !args.proxy.proxy, "--upstream", "--proxy"),
    (|args| args.unheld && args.approve.is_none(), "--unheld", "--approve"),
    (|args| args.keep.is_some() && !args.compact, "--keep", "--compact"),
    (|args| !args.prompt_args.is_empty() && args.server_prompt.is_none(), "--arg", "--prompt"),
];

/// Rejects options without their companion. The parser accepts them if another option conflicts with the companion.
pub fn check_companions(args: &DoArgs) -> Result<()> {
    match COMPANIONS.iter().find(|(is_lonely, ..)| is_lonely(args)) {
        Some((_, option, companion)) => {
            Err(Error::usage(format!("{option} needs {companion}")).hint("lepo do --help"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_letter_for_each_job_and_two_jobs_refuse_each_other() {
        for (option, letters) in OPTIONS {
            assert_eq!(letters.len(), JOBS.len(), "{option}");
            for (job, letter) in JOBS.iter().zip(letters.chars()) {
                assert!(letter == '.' || job.starts_with(letter), "{option} {job}");
                let refuses = |one: &str, other: &str| conflicts_of(one).contains(&other);
                assert!(
                    !JOBS.contains(option) || refuses(option, job) == refuses(job, option),
                    "{option} {job}"
                );
            }
        }
    }
}
