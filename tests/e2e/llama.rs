//! The OpenAI wire against a server that nobody here wrote: llama.cpp's, with a small real model.
//!
//! Runs where `LEPO_TEST_LLAMA` names its address (`http://127.0.0.1:PORT/v1`), as it does in CI.
//! Shape is asserted, never wording.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use crate::home::Home;
use crate::scripted::read_request;

/// A model this small may say one thing for ever, until its context is full and the next question is
/// refused. So each request is told on its way to the server how long its answer may be.
const LONGEST: u64 = 40;

#[test]
fn a_real_server_answers_and_is_kept() {
    let Some(url) = std::env::var("LEPO_TEST_LLAMA").ok().filter(|url| !url.is_empty()) else {
        crate::skip::skipped("llama", "LEPO_TEST_LLAMA names no server");
        return;
    };
    let (server, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).unwrap();
    let home = Home::with_config(&format!(
        "planner = \"off\"\n[[models]]\nname = \"llama\"\nprovider = \"openai\"\nmodel = \"smollm2:135m\"\n\
         base_url = \"http://{}/{path}\"\nactive = true\n",
        relay(server)
    ));
    home.write("config/system_prompt.txt", "");
    let first = home.ok(&["do", "--no-stdin", "What is the capital of France?"]);
    assert!(!first.trim().is_empty());
    let document: serde_json::Value =
        serde_json::from_str(&home.ok(&["do", "--no-stdin", "--json", "Name one colour."])).unwrap();
    assert!(document["answer"]["usage"]["input"].as_u64().unwrap() > 10, "{document}");
    let output = document["answer"]["usage"]["output"].as_u64().unwrap();
    assert!(output > 0 && output <= LONGEST, "{document}");
    assert_eq!(document["conv"].as_array().unwrap().len(), 4, "{document}");
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn the_other_two_wires_answer_too() {
    let Some(url) = std::env::var("LEPO_TEST_LLAMA").ok().filter(|url| !url.is_empty()) else {
        crate::skip::skipped("llama", "LEPO_TEST_LLAMA names no server");
        return;
    };
    let server = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).unwrap().0.to_owned();
    for (name, lines) in [
        ("anthropic", format!("provider = \"anthropic\"\nbase_url = \"http://{server}\"")),
        (
            "responses",
            format!("provider = \"openai\"\nwire = \"responses\"\nbase_url = \"http://{server}/v1\""),
        ),
    ] {
        let home = Home::with_config(&format!(
            "planner = \"off\"\n[[models]]\nname = \"llama\"\nmodel = \"smollm2:135m\"\nactive = true\n\
             options = {{ max_tokens = {LONGEST} }}\n{lines}\n"
        ));
        home.write("config/system_prompt.txt", "");
        let ran = home.lepo(&["do", "--no-stdin", "--json", "What is the capital of France?"]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert!(!document["answer"]["text"].as_str().unwrap().trim().is_empty(), "{name}: {document}");
        assert!(document["answer"]["usage"]["input"].as_u64().unwrap() > 5, "{name}: {document}");
        assert_eq!(home.lepo(&["do", "--no-stdin", "And of Spain?"]).code, 0, "{name}");
        assert_eq!(home.ok(&["fsck"]), "");
    }
}

/// The address of something that hands each request on to `server`, and the answer back byte for byte.
fn relay(server: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = server.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming() {
            hand_on(stream.unwrap(), &server).unwrap();
        }
    });
    address
}

fn hand_on(mut client: TcpStream, server: &str) -> std::io::Result<()> {
    let asked = read_request(&mut BufReader::new(client.try_clone()?))?;
    let mut body = asked.json();
    body["max_tokens"] = LONGEST.into();
    let body = body.to_string();
    let mut server = TcpStream::connect(server)?;
    write!(
        server,
        "{} {} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        asked.method,
        asked.path,
        body.len()
    )?;
    std::io::copy(&mut server, &mut client).map(drop)
}
