//! Pages from the web as files and context of a question, from a server on loopback.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use crate::bots::Bot;
use crate::disk::bubbs;

/// A server that answers each path with a head and a body.
fn serve(pages: Vec<(&'static str, &'static str, Vec<u8>)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut line) = (String::new(), String::new());
            let _ = reader.read_line(&mut first);
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let path = first.split(' ').nth(1).unwrap_or_default();
            let (head, body) = match pages.iter().find(|(name, ..)| *name == path) {
                Some((_, head, body)) => (*head, body.as_slice()),
                None => ("HTTP/1.1 404 Not Found", &b""[..]),
            };
            let _ = write!(stream, "{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(body);
        }
    });
    address
}

const OK: &str = "HTTP/1.1 200 OK";
const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8";

#[test]
fn a_page_is_sent_as_readable_text_in_a_fence_under_its_address() {
    let page = "<html><title>t</title><script>no()</script><h1>제목</h1><p>Read <b>this</b>.</p><pre>````</pre></html>";
    let bot = Bot::saying("planner = \"off\"", &["Fine.", "Good."]);
    let at = serve(vec![
        ("/a?b=c", HTML, page.into()),
        ("/n.txt", "HTTP/1.1 200 OK\r\nContent-Type: text/plain", "plain".into()),
    ]);
    let address = format!("{at}/a?b=c");
    let ran = bot.home.lepo(&["do", "--no-stdin", "-f", &address]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let question = bubbs(&bot.home).into_iter().find(|bubb| bubb.tag == "u0").unwrap().text;
    // Alone it is fenced, too; the fence is longer than the one in it.
    assert!(question.starts_with(&format!("{address}:\n`````\n")), "{question}");
    assert!(
        question.contains("# 제목") && question.contains("this") && !question.contains("no()"),
        "{question}"
    );
    let ran = bot.home.lepo(&["do", "--no-stdin", "--context", &format!("{at}/n.txt"), "What is it?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let sent = bot.bodies()[1]["messages"].to_string();
    assert!(sent.contains("What is it?") && sent.contains("/n.txt:\\n```\\nplain\\n```"), "{sent}");
}

#[test]
fn a_page_that_cannot_be_used_sends_and_writes_nothing() {
    let bot = Bot::saying("planner = \"off\"", &["Never."]);
    let at = serve(vec![
        ("/zip", "HTTP/1.1 200 OK\r\nContent-Type: application/zip", "PK".into()),
        ("/charset", "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=klingon", "x".into()),
        ("/large", HTML, vec![b'x'; (5 << 20) + 1]),
        ("/bytes", OK, vec![0, 1, 2]),
        ("/away", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/x", Vec::new()),
    ]);
    for (path, code, said) in [
        ("/zip", 2, "application/zip"),
        ("/charset", 2, "unknown charset: klingon"),
        ("/large", 2, "larger than 5 MB"),
        ("/bytes", 2, "an unnamed type"),
        ("/away", 3, "private address"),
        ("/gone", 3, "404"),
    ] {
        for option in ["-f", "--context"] {
            let ran = bot.home.lepo(&["do", "--no-stdin", option, &format!("{at}{path}"), "And?"]);
            assert_eq!(ran.code, code, "{option} {path}: {}", ran.err);
            assert!(ran.err.contains(said), "{option} {path}: {}", ran.err);
        }
    }
    let ran = bot.home.lepo(&["do", "--no-stdin", "-f", "http://example.com/"]);
    assert!(ran.code == 2 && ran.err.contains("http is allowed for this machine only"), "{}", ran.err);
    assert!(bot.bodies().is_empty());
    assert!(!bot.home.path().join("work/.lepo").exists());
}

#[test]
fn an_image_from_the_web_is_attached() {
    let png = [
        &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89"[..],
        b"\0\0\0\rIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82",
    ]
    .concat();
    let bot = Bot::saying("planner = \"off\"", &["Fine."]);
    let at = serve(vec![("/i.png", "HTTP/1.1 200 OK\r\nContent-Type: image/png", png)]);
    let ran = bot.home.lepo(&["do", "--no-stdin", "-f", &format!("{at}/i.png"), "What is this?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(bot.bodies()[0].to_string().contains("data:image/png;base64,"));
}
