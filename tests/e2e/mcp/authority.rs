//! A server that wants a sign-in and its authorization server, in one: by the book, or hostile as its mode says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::configure;
use crate::home::Home;
use crate::scripted::{Asked, Reply, Server};

/// The requests that came to it, and its answers to come.
#[derive(Default)]
pub struct AuthorityState {
    /// The tokens that are good are those of this number.
    pub number: usize,
    /// Seconds that a token is told to last.
    pub lasts: usize,
    /// Refresh tokens that were taken, and that were refused.
    pub refreshed: usize,
    pub burned: usize,
    /// It refuses to refresh.
    pub refuses: bool,
    /// Challenges of codes, by code.
    challenges: HashMap<String, (String, String)>,
    /// The `scope` of each address that was visited.
    pub scopes: Vec<String>,
    /// The tokens that requests came with.
    pub sent: Vec<String>,
}

/// Both servers, until they are dropped.
pub struct Authority {
    pub server: Server,
    pub state: Arc<Mutex<AuthorityState>>,
}

impl Authority {
    /// Starts them; `elsewhere` is an origin that is none of theirs.
    pub fn start(mode: &'static str, elsewhere: &str) -> Authority {
        let state = Arc::new(Mutex::new(AuthorityState { lasts: 3600, ..AuthorityState::default() }));
        let (shared, elsewhere) = (state.clone(), elsewhere.to_string());
        let server = Server::judging(move |_, asked| {
            let base = format!("http://{}", asked.header("host").unwrap_or_default());
            answer(mode, &base, &elsewhere, asked, &mut shared.lock().unwrap())
        });
        Authority { server, state }
    }

    /// Configures it as the server `s`.
    pub fn configure(&self, home: &Home, more: Value) {
        let mut server = json!({ "url": format!("{}/mcp", self.server.url()), "transport": "http" });
        more.as_object().unwrap().iter().for_each(|(key, value)| server[key] = value.clone());
        configure(home, &[("s", server)]);
    }

    /// The paths that were asked.
    pub fn paths(&self) -> Vec<String> {
        let path = |asked: Asked| asked.path.split('?').next().unwrap_or_default().to_string();
        self.server.asked().into_iter().map(path).collect()
    }
}

fn reply(status: u16, body: Value) -> Reply {
    Reply::new(status, body.to_string()).header("content-type", "application/json")
}

fn redirect(status: u16, to: &str) -> Reply {
    Reply::new(status, "").header("location", to)
}

fn answer(mode: &str, base: &str, elsewhere: &str, asked: &Asked, state: &mut AuthorityState) -> Reply {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    match path {
        "/mcp" => resource(mode, base, asked, state),
        "/.well-known/oauth-protected-resource/mcp" => {
            let resource =
                if mode == "resource" { "https://bank.example/mcp".into() } else { format!("{base}/mcp") };
            let mut servers = vec![base.to_string()];
            if mode == "many" {
                servers = (0..1000).map(|i| format!("{base}/{i}")).collect();
            }
            let body = json!({ "resource": resource, "authorization_servers": servers, "scopes_supported": ["read"] });
            if mode == "metadata-redirect" { redirect(307, elsewhere) } else { reply(200, body) }
        }
        "/.well-known/oauth-authorization-server" => metadata(mode, base),
        "/register" if mode == "register-redirect" => redirect(307, elsewhere),
        "/register" if mode == "register-error" => {
            reply(400, json!({ "error": "invalid_redirect_uri", "error_description": "not\u{1b}[2J here" }))
        }
        "/register" => {
            let mut client =
                json!({ "client_id": "client-1", "redirect_uris": asked.json()["redirect_uris"] });
            if mode == "secret" {
                client["client_secret"] = json!("registered-s3cret");
            }
            reply(201, client)
        }
        "/authorize" => authorize(mode, base, query, state),
        "/token" if mode == "token-redirect" => redirect(307, elsewhere),
        "/token" => token(mode, base, asked, state),
        _ => Reply::new(404, ""),
    }
}

fn metadata(mode: &str, base: &str) -> Reply {
    let mut body = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": mode == "document",
    });
    match mode {
        "mix-up" => body["issuer"] = json!("https://other.example"),
        "http" => body["token_endpoint"] = json!("http://auth.example/token"),
        "script" => body["authorization_endpoint"] = json!("javascript:alert(1)"),
        "no-pkce" => body["code_challenge_methods_supported"] = json!(["plain"]),
        "no-registration" => drop(body.as_object_mut().unwrap().remove("registration_endpoint")),
        "no-code" => body["response_types_supported"] = json!(["token"]),
        "many" => return Reply::new(404, ""),
        "endless" => body["padding"] = json!("x".repeat(2 << 20)),
        _ => {}
    }
    reply(200, body)
}

fn fields(text: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

fn authorize(mode: &str, base: &str, query: &str, state: &mut AuthorityState) -> Reply {
    let query = fields(query);
    state.scopes.push(query.get("scope").cloned().unwrap_or_default());
    assert_eq!(query["code_challenge_method"], "S256");
    assert_eq!(query["resource"], format!("{base}/mcp"));
    let code = format!("code-{}", state.challenges.len());
    let challenge = (query["code_challenge"].clone(), query["redirect_uri"].clone());
    state.challenges.insert(code.clone(), challenge);
    let iss = if mode == "wrong-iss" { "https://other.example" } else { base };
    let mut to = url::Url::parse(&query["redirect_uri"]).unwrap();
    match mode {
        "denied" => to
            .query_pairs_mut()
            .append_pair("error", "access_denied")
            .append_pair("error_description", "no, you"),
        "twice" => to.query_pairs_mut().append_pair("code", &code).append_pair("code", "other"),
        _ => to.query_pairs_mut().append_pair("code", &code),
    };
    to.query_pairs_mut().append_pair("state", &query["state"]);
    if mode != "no-iss" {
        to.query_pairs_mut().append_pair("iss", iss);
    }
    redirect(302, to.as_str())
}

fn token(mode: &str, base: &str, asked: &Asked, state: &mut AuthorityState) -> Reply {
    let form = fields(&String::from_utf8_lossy(&asked.body));
    let refused = |error: &str| reply(400, json!({ "error": error, "error_description": "it was used" }));
    assert_eq!(form["resource"], format!("{base}/mcp"));
    if mode == "secret" {
        let basic = format!(
            "Basic {}",
            base64::engine::general_purpose::STANDARD.encode("client-1:registered-s3cret")
        );
        assert_eq!(asked.header("authorization"), Some(basic.as_str()));
    }
    match form["grant_type"].as_str() {
        "authorization_code" => {
            let Some((challenge, redirect)) = state.challenges.remove(&form["code"]) else {
                return refused("invalid_grant");
            };
            let made = URL_SAFE_NO_PAD.encode(Sha256::digest(form["code_verifier"].as_bytes()));
            assert_eq!((made, form["redirect_uri"].as_str()), (challenge, redirect.as_str()));
            if mode == "token-error" {
                return refused("invalid_grant");
            }
        }
        _ => {
            if state.refuses || form["refresh_token"] != format!("refresh-{}", state.number) {
                state.burned += 1;
                return refused("invalid_grant");
            }
            state.refreshed += 1;
            state.lasts = 3600;
        }
    }
    state.number += 1;
    let kind = if mode == "mac" { "mac" } else { "Bearer" };
    reply(
        200,
        json!({
            "access_token": format!("access-s3cret-{}", state.number), "token_type": kind,
            "refresh_token": format!("refresh-{}", state.number), "expires_in": state.lasts, "scope": "read",
        }),
    )
}

fn resource(mode: &str, base: &str, asked: &Asked, state: &mut AuthorityState) -> Reply {
    let token = asked.header("authorization").unwrap_or_default().to_string();
    state.sent.push(token.clone());
    if state.number == 0 || token != format!("Bearer access-s3cret-{}", state.number) {
        let place = format!("{base}/.well-known/oauth-protected-resource/mcp");
        return Reply::new(401, "")
            .header("www-authenticate", &format!("Bearer resource_metadata=\"{place}\""));
    }
    if asked.method != "POST" {
        return Reply::new(405, "");
    }
    let message = asked.json();
    let ok = |result: Value| reply(200, json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => ok(json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "s", "version": "1" },
        })),
        "tools/list" => ok(json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })),
        "tools/call" if mode == "scope" => {
            let challenge = "Bearer error=\"insufficient_scope\", scope=\"write\"";
            Reply::new(403, "").header("www-authenticate", challenge)
        }
        "tools/call" => ok(json!({ "content": [{ "type": "text", "text": format!("you sent {token}") }] })),
        method if method.starts_with("notifications/") => Reply::new(202, ""),
        _ => reply(
            200,
            json!({
                "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32601, "message": "method not found" },
            }),
        ),
    }
}
