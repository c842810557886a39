//! The providers in the form that a configuration needs, one row each. Their capabilities are in `spec`.

use lepo_base::keyword::Keyword;

use crate::address::{BASE_URL_FORM, base_url, ollama_url};

/// The API or program of a model. The set is closed: a provider is code, not configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Any server that speaks OpenAI's chat completions or Responses.
    Openai,
    /// Any server that speaks Anthropic's Messages API.
    Anthropic,
    /// Ollama's own chat API.
    Ollama,
    /// A program that is a model: question in, answer out.
    Cli,
    /// An agent that speaks the Agent Client Protocol: a program with its own tools.
    Acp,
    /// The small model that comes with lepo, in the program `lepo-embedded`.
    Embedded,
}

/// The fields that configure a model of a provider.
#[derive(Debug, Clone, Copy)]
pub enum ProviderFields {
    /// A model of a server: `model`, `base_url`, a key.
    Server(&'static ServerDefaults),
    /// A program: `command` and `answer`, or `preset`.
    Program,
    /// An agent: `command`, or `preset`.
    Agent,
    /// At most the name of the weights.
    Weights,
}

/// The defaults for the URL of a server and the source of its key.
#[derive(Debug)]
pub struct ServerDefaults {
    /// The default base URL.
    pub url: &'static str,
    /// Whether that URL needs a key.
    pub needs_key: bool,
    /// The variable for another URL.
    pub url_env: &'static str,
    /// Parses the value of that variable.
    pub read_url: fn(&str) -> Result<String, &'static str>,
    /// The form of that value, for hints.
    pub url_form: &'static str,
    /// The variables for a key, in order of precedence, and whether the key is sent as a bearer token.
    pub key_env: &'static [(&'static str, bool)],
    /// The variable for a model, and the default model; `None` if the model must be named.
    pub model: Option<(&'static str, &'static str)>,
    /// The valid values of `wire`.
    pub wires: &'static [Wire],
    /// An example of PROVIDER:MODEL.
    pub example: &'static str,
}

/// The API of a server of `openai`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Chat completions.
    Chat,
    /// The Responses API.
    Responses,
}

impl Wire {
    /// All values, the default first.
    pub const ALL: &[Wire] = &[Wire::Responses, Wire::Chat];
}

impl Keyword for Wire {
    fn as_str(self) -> &'static str {
        match self {
            Wire::Chat => "chat",
            Wire::Responses => "responses",
        }
    }
}

/// OpenAI's own URL, for which Responses is the default.
pub const OPENAI_URL: &str = "https://api.openai.com/v1";

static OPENAI: ServerDefaults = ServerDefaults {
    url: OPENAI_URL,
    needs_key: true,
    url_env: "OPENAI_BASE_URL",
    read_url: base_url,
    url_form: BASE_URL_FORM,
    key_env: &[("OPENAI_API_KEY", true)],
    // Small, cheap, and accepts a temperature.
    model: Some(("OPENAI_MODEL", "gpt-4o-mini")),
    wires: Wire::ALL,
    example: "openai:gpt-4o",
};

static ANTHROPIC: ServerDefaults = ServerDefaults {
    url: "https://api.anthropic.com",
    needs_key: true,
    url_env: "ANTHROPIC_BASE_URL",
    read_url: base_url,
    url_form: BASE_URL_FORM,
    key_env: &[("ANTHROPIC_API_KEY", false), ("ANTHROPIC_AUTH_TOKEN", true)],
    model: Some(("ANTHROPIC_MODEL", "claude-sonnet-5-5")),
    wires: &[],
    example: "anthropic:claude-sonnet-5-5",
};

static OLLAMA: ServerDefaults = ServerDefaults {
    url: "",
    needs_key: false,
    url_env: "OLLAMA_HOST",
    read_url: ollama_url,
    url_form: "it is a host, host:port, :port or a URL",
    key_env: &[],
    model: None,
    wires: &[],
    example: "ollama:qwen3:8b",
};

impl Provider {
    /// All providers.
    pub const ALL: &[Provider] = &[
        Provider::Openai,
        Provider::Anthropic,
        Provider::Ollama,
        Provider::Cli,
        Provider::Acp,
        Provider::Embedded,
    ];

    /// Returns the fields of its models.
    pub fn fields(self) -> ProviderFields {
        match self {
            Provider::Openai => ProviderFields::Server(&OPENAI),
            Provider::Anthropic => ProviderFields::Server(&ANTHROPIC),
            Provider::Ollama => ProviderFields::Server(&OLLAMA),
            Provider::Cli => ProviderFields::Program,
            Provider::Acp => ProviderFields::Agent,
            Provider::Embedded => ProviderFields::Weights,
        }
    }

    /// Returns the defaults of its server; `None` if it has none.
    pub fn server(self) -> Option<&'static ServerDefaults> {
        match self.fields() {
            ProviderFields::Server(facts) => Some(facts),
            ProviderFields::Program | ProviderFields::Agent | ProviderFields::Weights => None,
        }
    }
}

impl Keyword for Provider {
    fn as_str(self) -> &'static str {
        match self {
            Provider::Openai => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Ollama => "ollama",
            Provider::Cli => "cli",
            Provider::Acp => "acp",
            Provider::Embedded => "embedded",
        }
    }
}
