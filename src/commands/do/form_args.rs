//! Options for the form of the answer: JSON with a schema, code only, or one line.

use std::path::Path;
use std::sync::Arc;

use clap::ArgAction;

use lepo_base::error::{Error, Result};
use lepo_turn::attach::read_text;
use lepo_turn::{AnswerSchema, is_short_schema, short_schema};

/// Heading of these options in the help.
const OUTPUT: &str = "Output";

/// `--schema`, `--code` and `--line`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct FormArgs {
    /// Require an answer in JSON that matches this JSON Schema: a file, the schema itself, or 'name, age int, tags
    /// [str]'
    ///
    /// In the short form, types are str, int, num, bool and [TYPE]; all fields are required, and no others are
    /// allowed.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = OUTPUT)]
    pub(super) schema: Option<String>,
    /// Print only the first code block of the answer; with -xx, all of them
    ///
    /// The model is asked for code only. If its answer has no code block, prints nothing and exits with 1.
    #[arg(short = 'x', long, action = ArgAction::Count, help_heading = OUTPUT)]
    pub(super) code: u8,
    /// Print the answer only if it is one line without control, bidirectional or invisible characters
    ///
    /// For a line that you are about to run. With --schema, prints the value of its only field. Any other answer is
    /// not printed, and the exit code is 1.
    #[arg(long, help_heading = OUTPUT)]
    pub(super) line: bool,
}

impl FormArgs {
    /// Whether the answer is printed only when it is complete.
    pub fn is_printed_at_end(&self) -> bool {
        self.code > 0 || self.line
    }

    pub fn answer_schema(&self) -> Result<Option<Arc<AnswerSchema>>> {
        let Some(schema_arg) = &self.schema else { return Ok(None) };
        let schema = match schema_arg.trim() {
            "" | "-" => {
                return Err(Error::usage("--schema needs a file, or the schema itself")
                    .hint("stdin is a part of the question"));
            }
            inline if inline.starts_with('{') => AnswerSchema::compile("--schema", schema_arg)?,
            short if is_short_schema(short) && !Path::new(schema_arg).exists() => {
                AnswerSchema::compile("--schema", &short_schema(short)?.to_string())?
            }
            _ => AnswerSchema::compile(schema_arg, &read_text(schema_arg.as_ref())?)?,
        };
        Ok(Some(Arc::new(schema)))
    }
}
