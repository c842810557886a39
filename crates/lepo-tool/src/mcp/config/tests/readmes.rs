//! Configurations exactly as the READMEs of servers print them: each is read, and nothing in it is lost or misread.

use std::path::Path;

use lepo_base::env::Env;
use lepo_base::secret::Secret;

use crate::mcp::config::{EntryOrigin, ServerConfig, ServerTarget, ServerVariables, parse_with};

/// Name of the file, package whose README prints it, text, and the server in a line.
const READMES: &[(&str, &str, &str, &str)] = &[
    (
        "playwright",
        "npm @playwright/mcp 0.0.83",
        include_str!("../../../../../../tests/data/mcp-readmes/playwright.json"),
        r#"playwright: npx ["@playwright/mcp@latest"]"#,
    ),
    (
        "context7-remote",
        "npm @upstash/context7-mcp 4.1.1",
        include_str!("../../../../../../tests/data/mcp-readmes/context7-remote.json"),
        r#"context7: HttpFirst https://mcp.context7.com/mcp Authorization=Bearer YOUR_API_KEY"#,
    ),
    (
        "context7-local",
        "npm @upstash/context7-mcp 4.1.1",
        include_str!("../../../../../../tests/data/mcp-readmes/context7-local.json"),
        r#"context7: npx ["-y", "@upstash/context7-mcp", "--api-key", "YOUR_API_KEY"]"#,
    ),
    (
        "context7-server-url",
        "npm @upstash/context7-mcp 4.1.1",
        include_str!("../../../../../../tests/data/mcp-readmes/context7-server-url.json"),
        r#"context7: HttpFirst https://mcp.context7.com/mcp Authorization=Bearer YOUR_API_KEY"#,
    ),
    (
        "chrome-devtools",
        "npm chrome-devtools-mcp 1.11.0",
        include_str!("../../../../../../tests/data/mcp-readmes/chrome-devtools.json"),
        r#"chrome-devtools: npx ["-y", "chrome-devtools-mcp@latest", "--slim", "--headless"]"#,
    ),
    (
        "brave-docker",
        "npm @brave/brave-search-mcp-server 2.1.4",
        include_str!("../../../../../../tests/data/mcp-readmes/brave-docker.json"),
        r#"brave-search: docker ["run", "-i", "--rm", "-e", "BRAVE_API_KEY", "docker.io/mcp/brave-search"] BRAVE_API_KEY=YOUR_API_KEY_HERE"#,
    ),
    (
        "brave-vscode",
        "npm @brave/brave-search-mcp-server 2.1.4",
        include_str!("../../../../../../tests/data/mcp-readmes/brave-vscode.json"),
        r#"brave-search: docker ["run", "-i", "--rm", "-e", "BRAVE_API_KEY", "mcp/brave-search"] BRAVE_API_KEY=${input:brave-api-key} (left out: ${input:brave-api-key} is asked for by another program only)"#,
    ),
    (
        "notion",
        "npm @notionhq/notion-mcp-server 2.5.2",
        include_str!("../../../../../../tests/data/mcp-readmes/notion.json"),
        r#"notionApi: npx ["-y", "@notionhq/notion-mcp-server"] OPENAPI_MCP_HEADERS={"Authorization": "Bearer ntn_****", "Notion-Version": "2025-09-03" }"#,
    ),
    (
        "filesystem",
        "npm @modelcontextprotocol/server-filesystem 2026.8.31",
        include_str!("../../../../../../tests/data/mcp-readmes/filesystem.json"),
        r#"filesystem: docker ["run", "-i", "--rm", "--mount", "type=bind,src=/Users/username/Desktop,dst=/projects/Desktop", "--mount", "type=bind,src=/path/to/other/allowed/dir,dst=/projects/other/allowed/dir,ro", "--mount", "type=bind,src=/path/to/file.txt,dst=/projects/path/to/file.txt", "mcp/filesystem", "/projects"]"#,
    ),
    (
        "time",
        "PyPI mcp-server-time 2026.10.19",
        include_str!("../../../../../../tests/data/mcp-readmes/time.json"),
        r#"time: docker ["run", "-i", "--rm", "-e", "LOCAL_TIMEZONE", "mcp/time"]"#,
    ),
    (
        "aws-documentation",
        "PyPI awslabs.aws-documentation-mcp-server 1.2.3",
        include_str!("../../../../../../tests/data/mcp-readmes/aws-documentation.json"),
        r#"awslabs.aws-documentation-mcp-server: uvx ["awslabs.aws-documentation-mcp-server@latest"] FASTMCP_LOG_LEVEL=ERROR AWS_DOCUMENTATION_PARTITION=aws MCP_USER_AGENT=Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"#,
    ),
    (
        "aws-windows",
        "PyPI awslabs.aws-documentation-mcp-server 1.2.3",
        include_str!("../../../../../../tests/data/mcp-readmes/aws-windows.json"),
        r#"awslabs.aws-documentation-mcp-server: uv ["tool", "run", "--from", "awslabs.aws-documentation-mcp-server@latest", "awslabs.aws-documentation-mcp-server.exe"] FASTMCP_LOG_LEVEL=ERROR AWS_DOCUMENTATION_PARTITION=aws (calls 60s)"#,
    ),
    (
        "duckduckgo",
        "PyPI duckduckgo-mcp-server 0.7.0",
        include_str!("../../../../../../tests/data/mcp-readmes/duckduckgo.json"),
        r#"ddg-search: uvx ["duckduckgo-mcp-server"] DDG_SAFE_SEARCH=STRICT DDG_REGION=cn-zh"#,
    ),
    (
        "exa",
        "npm exa-mcp-server 3.4.1",
        include_str!("../../../../../../tests/data/mcp-readmes/exa.json"),
        r#"exa: Http https://mcp.exa.ai/mcp"#,
    ),
    (
        "figma",
        "npm figma-developer-mcp 0.13.2",
        include_str!("../../../../../../tests/data/mcp-readmes/figma.json"),
        r#"Framelink MCP for Figma: npx ["-y", "figma-developer-mcp", "--figma-api-key=YOUR-KEY", "--stdio"]"#,
    ),
    (
        "firecrawl",
        "npm firecrawl-mcp 3.22.2",
        include_str!("../../../../../../tests/data/mcp-readmes/firecrawl.json"),
        r#"firecrawl-mcp: npx ["-y", "firecrawl-mcp"] FIRECRAWL_API_KEY=YOUR-API-KEY"#,
    ),
    (
        "atlassian",
        "PyPI mcp-atlassian 0.23.1",
        include_str!("../../../../../../tests/data/mcp-readmes/atlassian.json"),
        r#"mcp-atlassian: uvx ["mcp-atlassian"] JIRA_URL=https://your-company.atlassian.net JIRA_USERNAME=your.email@company.com JIRA_API_TOKEN=your_api_token CONFLUENCE_URL=https://your-company.atlassian.net/wiki CONFLUENCE_USERNAME=your.email@company.com CONFLUENCE_API_TOKEN=your_api_token"#,
    ),
    (
        "mcp-remote",
        "npm mcp-remote 0.15.1",
        include_str!("../../../../../../tests/data/mcp-readmes/mcp-remote.json"),
        r#"remote-example: npx ["mcp-remote", "https://remote.mcp.server/sse", "--header", "Authorization: Bearer ${AUTH_TOKEN}"] AUTH_TOKEN=..."#,
    ),
    (
        "kubernetes",
        "npm mcp-server-kubernetes 4.1.7",
        include_str!("../../../../../../tests/data/mcp-readmes/kubernetes.json"),
        r#"kubernetes: npx ["mcp-server-kubernetes"]"#,
    ),
    (
        "tavily-remote",
        "npm tavily-mcp 0.2.22",
        include_str!("../../../../../../tests/data/mcp-readmes/tavily-remote.json"),
        r#"tavily-remote-mcp: npx ["-y", "mcp-remote", "https://mcp.tavily.com/mcp/?tavilyApiKey=<your-api-key>"]"#,
    ),
    (
        "tavily",
        "npm tavily-mcp 0.2.22",
        include_str!("../../../../../../tests/data/mcp-readmes/tavily.json"),
        r#"tavily-mcp: npx ["-y", "tavily-mcp@latest"] TAVILY_API_KEY=your-api-key-here DEFAULT_PARAMETERS={"include_images": true, "max_results": 15, "search_depth": "advanced"}"#,
    ),
];

fn line(server: &ServerConfig) -> String {
    let pairs = |pairs: &[(String, Secret)]| -> String {
        pairs.iter().map(|(name, value)| format!(" {name}={}", value.reveal())).collect()
    };
    let mut line = match &server.target {
        ServerTarget::Program { command, args, env, cwd: None } => {
            format!("{command} {args:?}{}", pairs(env))
        }
        ServerTarget::Program { cwd: Some(_), .. } => "in another directory".to_string(),
        ServerTarget::Remote { url, transport, headers, .. } => {
            format!("{transport:?} {url}{}", pairs(headers))
        }
    };
    let details = &server.details;
    assert!(server.enabled && details.notes.is_empty() && details.included.is_none(), "{server:?}");
    assert!(details.excluded.is_empty() && details.connect.is_none() && details.filled.is_empty());
    line += &details.call.map(|limit| format!(" (calls {limit:?})")).unwrap_or_default();
    line += &details.left_out.as_ref().map(|why| format!(" (left out: {why})")).unwrap_or_default();
    format!("{}: {line}", server.name)
}

#[test]
fn the_configuration_of_a_readme_is_taken_unchanged() {
    let env = Env::from_pairs(&[]);
    let variables = ServerVariables { env: &env, own_names: &[], keys: &[] };
    for (name, package, text, expected) in READMES {
        let servers = parse_with(Path::new(name), text.as_bytes(), Some((&variables, EntryOrigin::User)));
        let lines: Vec<String> = servers.unwrap().iter().map(line).collect();
        assert_eq!(lines, [*expected], "{name}, README of {package}");
    }
}
