//! `scripts/install.sh` and `scripts/release`, run by the system's own sh against archives laid out as `scripts/package` does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use sha2::{Digest, Sha256};

use crate::home::{Home, Ran, run, until};
use crate::pty::on_terminal;

fn script(name: &str) -> String {
    format!("{}/scripts/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn sh(home: &Home, line: &str) -> Ran {
    let ran = run(home.program("sh", &["-c", line]), b"");
    assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    ran
}

/// This system's target with the static C library.
fn target() -> String {
    let os = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    format!("{}-{os}", std::env::consts::ARCH)
}

/// An archive of this version in `base`, whose program answers with it; the names are those of `scripts/package`.
fn publish(home: &Home, version: &str) {
    let root = format!("tree/lepo-{version}");
    home.write_program(&format!("{root}/bin/lepo"), format!("#!/bin/sh\necho lepo {version}\n"));
    home.write(&format!("{root}/share/man/man1/lepo.1"), ".TH LEPO 1\n");
    home.write(&format!("{root}/share/doc/lepo/only in {version}"), "x");
    pack(home, version);
}

fn pack(home: &Home, version: &str) {
    sh(
        home,
        &format!(
            "mkdir -p ../base && tar -C ../tree -cf - lepo-{version} | gzip -1 >../base/lepo-{version}-{}.tar.gz && rm -r ../tree",
            target()
        ),
    );
    sums(home);
}

/// Writes `SHA256SUMS` of what is in `base`.
fn sums(home: &Home) {
    let base = home.path().join("base");
    let mut text = String::new();
    for entry in std::fs::read_dir(&base).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name != "SHA256SUMS" {
            let sum: String = Sha256::digest(std::fs::read(&path).unwrap())
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            text.push_str(&format!("{sum}  {name}\n"));
        }
    }
    std::fs::write(base.join("SHA256SUMS"), text).unwrap();
}

fn installer(home: &Home, args: &[&str]) -> Command {
    let script = script("install.sh");
    let mut command = home.program("sh", &[&[script.as_str()], args].concat());
    std::fs::create_dir_all(home.path().join("tmp")).unwrap();
    command
        .env("LEPO_BASE", format!("file://{}", home.path().join("base").display()))
        .env("TMPDIR", home.path().join("tmp"));
    command
}

fn install(home: &Home) -> Ran {
    run(installer(home, &[]), b"")
}

fn version_installed(home: &Home) -> String {
    let program = home.path().join(".local/bin/lepo");
    let ran = Command::new(program).output();
    ran.map(|ran| String::from_utf8_lossy(&ran.stdout).trim().to_string()).unwrap_or_default()
}

/// The files and folders below the home's `.local` and `tmp`.
fn everything(home: &Home) -> Vec<String> {
    let ran = sh(home, "cd .. && find .local tmp 2>/dev/null | sort || true");
    ran.out.lines().map(str::to_string).collect()
}

#[test]
fn it_installs_goes_on_to_a_newer_version_and_leaves_nothing_behind() {
    let home = Home::new();
    home.write(".local/bin/mine", "mine");
    home.write(".local/share/man/man1/mine.1", "mine");
    home.write("tmp/mine", "mine");
    let before = everything(&home);
    publish(&home, "0.9.0");
    let ran = install(&home);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("lepo 0.9.0 for "), "{}", ran.out);
    assert_eq!(version_installed(&home), "lepo 0.9.0");
    publish(&home, "0.10.0");
    assert_eq!(install(&home).code, 0);
    assert_eq!(version_installed(&home), "lepo 0.10.0", "0.10.0 is newer than 0.9.0");
    let now = everything(&home).join("\n");
    assert!(now.contains("only in 0.10.0") && !now.contains("only in 0.9.0"), "{now}");
    // No server is asked for this.
    std::fs::remove_dir_all(home.path().join("base")).unwrap();
    let ran = run(installer(&home, &["--uninstall"]), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(everything(&home), before);
    let again = run(installer(&home, &["--uninstall"]), b"");
    assert_eq!(again.code, 1);
    assert!(again.err.contains("nothing that install.sh put there"), "{}", again.err);
}

#[test]
fn a_prefix_that_was_not_there_is_removed_again() {
    let home = Home::new();
    publish(&home, "0.9.0");
    let prefix = home.path().join("own");
    let run_with = |args: &[&str]| {
        let mut command = installer(&home, args);
        command.env("PREFIX", &prefix);
        let ran = run(command, b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
    };
    run_with(&[]);
    publish(&home, "0.10.0");
    run_with(&[]);
    run_with(&["--uninstall"]);
    assert!(!prefix.exists());
    // Files of others stay, and so does the folder that they are in.
    run_with(&[]);
    home.write("own/mine", "mine");
    run_with(&["--uninstall"]);
    assert_eq!(std::fs::read_dir(&prefix).unwrap().count(), 1);
}

#[test]
fn the_program_that_was_built_is_installed_with_its_manual_and_completions() {
    let home = Home::new();
    let (root, repository) = ("../tree/lepo-0.1.0", env!("CARGO_MANIFEST_DIR"));
    sh(
        &home,
        &format!(
            "mkdir -p {root}/bin {root}/share/doc/lepo && ln {bin} {root}/bin/lepo 2>/dev/null || cp {bin} {root}/bin/lepo && \
             cp '{repository}/README.md' {root}/share/doc/lepo/",
            bin = env!("CARGO_BIN_EXE_lepo"),
        ),
    );
    pack(&home, "0.1.0");
    assert_eq!(install(&home).code, 0);
    let mut command = home.program("sh", &["-c", "\"$HOME/.local/bin/lepo\" --version"]);
    command.env_remove("LEPO_CONFIG_HOME");
    let ran = run(command, b"");
    assert!(ran.out.starts_with("lepo 0.1.0"), "{}{}", ran.out, ran.err);
}

#[test]
fn an_archive_that_is_damaged_or_hostile_changes_nothing() {
    let home = Home::new();
    publish(&home, "0.1.0");
    assert_eq!(install(&home).code, 0);
    let before = everything(&home);
    let base = home.path().join("base");
    let archive = base.join(format!("lepo-0.2.0-{}.tar.gz", target()));

    publish(&home, "0.2.0");
    let whole = std::fs::read(&archive).unwrap();
    std::fs::write(&archive, &whole[..whole.len() / 2]).unwrap();
    let ran = install(&home);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("its SHA-256 is"), "{}", ran.err);

    for (made_by, said) in [
        (
            "cd ../base && mkdir -p lepo-0.2.0/bin && echo x >evil && tar -Pczf ARCHIVE lepo-0.2.0 lepo-0.2.0/../evil",
            "/../evil",
        ),
        ("cd ../base && echo x >/$HOME/evil && tar -Pczf ARCHIVE $HOME/evil", "refused"),
        ("cd ../base && echo x >evil && tar -czf ARCHIVE evil", "the name evil"),
        (
            "cd ../base && mkdir -p lepo-0.2.0 && ln -s / lepo-0.2.0/bin && tar -czf ARCHIVE lepo-0.2.0",
            "links",
        ),
        ("cd ../base && echo rubbish >ARCHIVE", "not a gzip'd tar archive"),
        (
            "cd ../base && mkdir -p lepo-0.2.0/bin && printf '#!/nowhere\\n' >lepo-0.2.0/bin/lepo && chmod +x lepo-0.2.0/bin/lepo && tar -czf ARCHIVE lepo-0.2.0",
            "does not run on this system",
        ),
    ] {
        sh(&home, &made_by.replace("ARCHIVE", archive.to_str().unwrap()));
        sh(&home, "rm -rf ../base/lepo-0.2.0 ../base/evil");
        sums(&home);
        let ran = install(&home);
        assert_eq!(ran.code, 1, "{made_by}");
        assert!(ran.err.contains(said), "{made_by}: {}", ran.err);
    }
    assert_eq!(everything(&home), before);
    assert_eq!(version_installed(&home), "lepo 0.1.0");
}

#[test]
fn a_system_without_an_archive_and_a_base_of_another_kind_are_refused_by_name() {
    let home = Home::new();
    publish(&home, "0.1.0");
    home.write_program("bin/uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo Linux || echo riscv64\n");
    let mut command = installer(&home, &[]);
    command.env("PATH", format!("{}:/usr/bin:/bin", home.path().join("bin").display()));
    let ran = run(command, b"");
    assert!(ran.code == 1 && ran.err.contains("no archive for Linux riscv64"), "{}", ran.err);
    for base in [
        "http://example.com/lepo",
        "http://localhost.example.com",
        "ftp://127.0.0.1",
        "/tmp",
        "file://host/x",
    ] {
        let mut command = installer(&home, &[]);
        command.env("LEPO_BASE", base);
        let ran = run(command, b"");
        assert!(ran.code == 1 && ran.err.contains(&format!("LEPO_BASE: {base}")), "{base}: {}", ran.err);
    }
    assert_eq!(run(installer(&home, &["--help-me"]), b"").code, 2);
    assert!(!home.path().join(".local").exists());
}

/// Serves the files of a folder on loopback; a file `NAME.to` is a redirect to the address in it, and of `NAME.held`
/// only a beginning comes, after which the channel gets a word.
fn serve(folder: PathBuf) -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (began, begun) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut first = String::new();
            let _ = reader.read_line(&mut first);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let name = first.split(' ').nth(1).unwrap_or("/").trim_start_matches('/').to_string();
            let beside = |ending: &str| std::fs::read(folder.join(format!("{name}.{ending}")));
            if let Ok(to) = beside("to") {
                let to = String::from_utf8_lossy(&to);
                let _ = write!(
                    stream,
                    "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
            } else if beside("held").is_ok() {
                let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbeginning");
                let _ = began.send(());
                // The client goes away.
                let _ = stream.read(&mut [0; 1]);
            } else if let Ok(body) = std::fs::read(folder.join(&name)) {
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(&body);
            } else {
                let _ = write!(
                    stream,
                    "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
            }
        }
    });
    (address, begun)
}

/// A folder of links to what the installer needs, all of which busybox has, with one of curl and wget; none where that is not installed.
fn only_with(home: &Home, fetcher: &str) -> Option<PathBuf> {
    let folder = home.path().join(format!("only-{fetcher}"));
    std::fs::create_dir_all(&folder).unwrap();
    for tool in [
        "sh",
        "cat",
        "cut",
        "awk",
        "tar",
        "gzip",
        "grep",
        "sed",
        "sort",
        "find",
        "mktemp",
        "mkdir",
        "cp",
        "mv",
        "rm",
        "rmdir",
        "dirname",
        "uname",
        "sha256sum",
        "tail",
        fetcher,
    ] {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().unwrap();
        let found = String::from_utf8_lossy(&found.stdout).trim().to_string();
        if found.is_empty() {
            crate::skip::skipped(tool, format!("no {tool} here"));
            return None;
        }
        std::os::unix::fs::symlink(found, folder.join(tool)).unwrap();
    }
    Some(folder)
}

#[test]
fn curl_and_wget_fetch_from_this_machine_and_follow_no_redirect() {
    for fetcher in ["curl", "wget"] {
        let home = Home::new();
        let Some(path) = only_with(&home, fetcher) else { continue };
        publish(&home, "0.1.0");
        let (address, _) = serve(home.path().join("base"));
        let install = || {
            let mut command = installer(&home, &[]);
            command.env("LEPO_BASE", &address).env("PATH", &path);
            run(command, b"")
        };
        home.write("base/SHA256SUMS.to", format!("{address}/elsewhere"));
        home.write("base/elsewhere", home.read("base/SHA256SUMS"));
        let ran = install();
        assert_eq!(ran.code, 1, "{fetcher}: {}", ran.out);
        std::fs::remove_file(home.path().join("base/SHA256SUMS.to")).unwrap();
        let ran = install();
        assert_eq!(ran.code, 0, "{fetcher}: {}", ran.err);
        assert_eq!(version_installed(&home), "lepo 0.1.0");
        assert_eq!(std::fs::read_dir(home.path().join("tmp")).unwrap().count(), 0);
        // Files of the older version go without any other program.
        publish(&home, "0.2.0");
        let ran = install();
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{fetcher}");
        let now = everything(&home).join("\n");
        assert!(now.contains("only in 0.2.0") && !now.contains("only in 0.1.0"), "{now}");
    }
}

/// An https server of this folder, as [`serve`] has it, and the file with its certificate; none without openssl or Python.
const TLS: &str = "import http.server, os, ssl, sys\nfolder = sys.argv[1]\n\
    class Handler(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        name = folder + self.path\n        \
    if os.path.exists(name + '.to'):\n            self.send_response(302)\n            \
    self.send_header('Location', open(name + '.to').read())\n            self.end_headers()\n        \
    else:\n            body = open(name, 'rb').read()\n            self.send_response(200)\n            \
    self.send_header('Content-Length', str(len(body)))\n            self.end_headers()\n            \
    self.wfile.write(body)\n    def log_message(self, *_):\n        pass\n\
    server = http.server.HTTPServer(('127.0.0.1', 0), Handler)\n\
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\ncontext.load_cert_chain(sys.argv[2], sys.argv[3])\n\
    server.socket = context.wrap_socket(server.socket, server_side=True)\n\
    print(server.server_address[1], flush=True)\nserver.serve_forever()\n";

struct TlsServer {
    child: std::process::Child,
    address: String,
    certificate: PathBuf,
}

impl TlsServer {
    fn start(home: &Home, folder: &Path) -> Option<TlsServer> {
        let (key, certificate) = (home.path().join("key.pem"), home.path().join("cert.pem"));
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=IP:127.0.0.1", "-keyout"])
            .arg(&key)
            .arg("-out")
            .arg(&certificate)
            .output();
        if !made.is_ok_and(|made| made.status.success()) {
            crate::skip::skipped("openssl", "no openssl here");
            return None;
        }
        let mut python = Command::new("python3");
        python.args(["-c", TLS]).arg(folder).arg(&certificate).arg(&key).stdout(Stdio::piped());
        let mut child = python.spawn().ok()?;
        let mut port = String::new();
        BufReader::new(child.stdout.take()?).read_line(&mut port).ok()?;
        Some(TlsServer { child, address: format!("https://127.0.0.1:{}", port.trim()), certificate })
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn curl_and_wget_follow_a_redirect_to_https_and_none_to_http() {
    for fetcher in ["curl", "wget"] {
        let home = Home::new();
        let Some(path) = only_with(&home, fetcher) else { continue };
        publish(&home, "0.1.0");
        let base = home.path().join("base");
        let Some(server) = TlsServer::start(&home, &base) else { return };
        let (plain, _) = serve(base.clone());
        home.write("wgetrc", format!("ca_certificate = {}\n", server.certificate.display()));
        let install = || {
            let mut command = installer(&home, &[]);
            command.env("LEPO_BASE", &server.address).env("PATH", &path);
            command.env("CURL_CA_BUNDLE", &server.certificate).env("WGETRC", home.path().join("wgetrc"));
            run(command, b"")
        };
        for to in [format!("{plain}/SHA256SUMS"), format!("{plain}/other"), "ftp://127.0.0.1/x".to_string()] {
            home.write("base/SHA256SUMS.to", &to);
            let ran = install();
            assert!(
                ran.code == 1 && ran.err.contains("cannot fetch "),
                "{fetcher} {to}: {} {}",
                ran.out,
                ran.err
            );
            assert!(!home.path().join(".local/bin/lepo").exists(), "{fetcher} {to}");
        }
        // To https, by all ways to write it.
        home.write("base/elsewhere", home.read("base/SHA256SUMS"));
        for to in [format!("{}/elsewhere", server.address), "/elsewhere".to_string(), "elsewhere".to_string()]
        {
            home.write("base/SHA256SUMS.to", &to);
            let ran = install();
            assert_eq!(ran.code, 0, "{fetcher} {to}: {} {}", ran.out, ran.err);
        }
        // A circle has an end.
        home.write("base/SHA256SUMS.to", "/SHA256SUMS");
        assert_eq!(install().code, 1, "{fetcher}");
    }
}

#[test]
fn an_interrupted_download_leaves_what_was_there() {
    let home = Home::new();
    publish(&home, "0.1.0");
    assert_eq!(install(&home).code, 0);
    publish(&home, "0.2.0");
    let before = everything(&home);
    home.write(&format!("base/lepo-0.2.0-{}.tar.gz.held", target()), "");
    for signal in ["INT", "TERM", "HUP"] {
        let (address, begun) = serve(home.path().join("base"));
        let mut command = installer(&home, &[]);
        // A group of its own, as a terminal makes it: the signal reaches the download, too.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.env("LEPO_BASE", address).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        begun.recv().unwrap();
        let kill = format!("kill -{signal} -{}", child.id());
        assert!(Command::new("bash").args(["-c", &kill]).status().unwrap().success());
        assert!(!child.wait().unwrap().success(), "{signal}");
        assert_eq!(everything(&home), before, "{signal}");
    }
    assert_eq!(version_installed(&home), "lepo 0.1.0");
}

#[test]
fn a_program_that_runs_is_replaced() {
    let home = Home::new();
    let Some(sleep) =
        [Path::new("/bin/sleep"), Path::new("/usr/bin/sleep")].into_iter().find(|path| path.exists())
    else {
        return;
    };
    std::fs::create_dir_all(home.path().join("tree/lepo-0.1.0/bin")).unwrap();
    std::fs::copy(sleep, home.path().join("tree/lepo-0.1.0/bin/lepo")).unwrap();
    pack(&home, "0.1.0");
    assert_eq!(install(&home).code, 0);
    let mut running = Command::new(home.path().join(".local/bin/lepo")).arg("60").spawn().unwrap();
    publish(&home, "0.2.0");
    let ran = install(&home);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(version_installed(&home), "lepo 0.2.0");
    assert!(running.try_wait().unwrap().is_none());
    running.kill().unwrap();
    running.wait().unwrap();
}

#[test]
fn a_folder_in_the_way_leaves_what_was_there() {
    let home = Home::new();
    publish(&home, "0.1.0");
    home.write(".local/share/man/man1/lepo.1/mine", "mine");
    let before = everything(&home);
    let ran = install(&home);
    assert!(ran.code == 1 && ran.err.contains("lepo.1 is a folder"), "{}", ran.err);
    let now: Vec<String> = everything(&home).into_iter().filter(|path| path != "tmp").collect();
    assert_eq!(now, before);
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    if !Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success()) {
        return crate::skip::skipped("mount-namespace", "no mounts of one's own here");
    }
    let home = Home::new();
    publish(&home, "0.2.0");
    home.write_program("tree/lepo-0.3.0/bin/lepo", "#!/bin/sh\necho lepo 0.3.0\n");
    home.write("tree/lepo-0.3.0/share/doc/lepo/large", vec![b'x'; 1 << 20]);
    std::fs::create_dir(home.path().join("small")).unwrap();
    // A disk of 256 kB holds the first version and not the second.
    let line = format!(
        "mount -t tmpfs -o size=256k none ../small && export PREFIX=\"$PWD/../small\" && sh '{0}' && \
         find ../small | sort >before && tar -C ../tree -czf ../base/lepo-0.3.0-{1}.tar.gz lepo-0.3.0 && \
         (cd ../base && sha256sum *.tar.gz >SHA256SUMS) && {{ sh '{0}'; echo \"exit $?\"; }} && find ../small | sort >after && \
         cmp before after && ../small/bin/lepo",
        script("install.sh"),
        target()
    );
    let mut command = home.program("unshare", &["-rm", "sh", "-c", &line]);
    command.env("LEPO_BASE", format!("file://{}", home.path().join("base").display()));
    let ran = run(command, b"");
    assert!(ran.out.ends_with("exit 1\nlepo 0.2.0\n"), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("is the disk full?"), "{}", ran.err);
}

#[test]
fn a_shell_file_is_touched_only_after_a_yes_and_an_uninstall_takes_the_line_back() {
    let home = Home::new();
    home.write(".bashrc", "alias l=ls");
    publish(&home, "0.1.0");
    let asking = |answer: &str| {
        let mut command = installer(&home, &[]);
        command.env("SHELL", "/bin/bash");
        on_terminal(command, &[("[y/N]", answer)])
    };
    assert!(asking("\r").out.contains(".bashrc"));
    assert_eq!(home.read(".bashrc"), "alias l=ls");
    asking("y\r");
    let lines = home.read(".bashrc");
    assert!(
        lines.starts_with("alias l=ls\nPATH='") && lines.ends_with("# added by lepo's install.sh\n"),
        "{lines}"
    );
    let ran = run(home.program("bash", &["-c", ". ../.bashrc; command -v lepo"]), b"");
    assert_eq!(ran.out.trim(), home.path().join(".local/bin/lepo").to_str().unwrap());
    // Asked once: the line is there.
    let mut command = installer(&home, &[]);
    command.env("SHELL", "/bin/bash");
    assert!(!on_terminal(command, &[]).out.contains("[y/N]"));
    assert_eq!(run(installer(&home, &["--uninstall"]), b"").code, 0);
    assert_eq!(home.read(".bashrc"), "alias l=ls\n");
}

#[test]
fn the_address_and_the_version_stand_in_cargo_toml_alone() {
    let manifest = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let field = |name: &str| {
        let line = manifest.lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap();
        line.split('"').nth(1).unwrap().to_string()
    };
    let installer = std::fs::read_to_string(script("install.sh")).unwrap();
    assert!(installer.contains(&format!("${{LEPO_BASE:-{}/releases/latest/download}}", field("repository"))));
    for file in ["packaging/PKGBUILD.in", "packaging/default.nix", "packaging/flake.nix", "packaging/lepo.rb"]
    {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        assert!(!text.contains(&field("version")), "{file} has a version of its own");
    }
}

/// A repository with the release script, a manifest and a change log.
fn releasable(home: &Home) {
    home.write("work/Cargo.toml", "[workspace.package]\nversion = \"0.2.0\"\n");
    home.write("work/CHANGELOG.md", "# Changes\n\n## 0.2.0\n\n- More.\n");
    home.write(
        "work/scripts/package",
        "#!/bin/sh\nmkdir -p dist\nfor t; do echo $t >dist/lepo-0.2.0-$t.tar.gz; done\ncd dist && sha256sum *.tar.gz >SHA256SUMS\n",
    );
    home.write(".gitconfig", "[user]\nname = a\nemail = a@b\n[init]\ndefaultBranch = main\n");
    home.write("work/.gitignore", "dist\n");
    sh(
        home,
        &format!(
            "cp '{}' scripts/ && chmod +x scripts/* && git init -q && git add . && git commit -qm a",
            script("release")
        ),
    );
}

#[test]
fn a_release_is_checked_built_summed_and_tagged_once() {
    let home = Home::new();
    releasable(&home);
    let release = |args: &str| {
        let mut command = home.program("sh", &["-c", &format!("scripts/release {args}")]);
        command.env("RELEASE_TARGETS", "a-linux b-linux");
        run(command, b"")
    };
    assert_eq!(release("").code, 2);
    let ran = release("0.3.0");
    assert!(ran.code == 1 && ran.err.contains("Cargo.toml says 0.2.0"), "{}", ran.err);
    let ran = release("--dry-run 0.2.0");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("v0.2.0") && ran.out.contains("a-linux"), "{}", ran.out);
    assert!(!home.path().join("work/dist").exists());
    assert_eq!(sh(&home, "git tag").out, "");

    home.write("work/new", "");
    let ran = release("0.2.0");
    assert!(ran.code == 1 && ran.err.contains("not clean"), "{}", ran.err);
    std::fs::remove_file(home.path().join("work/new")).unwrap();

    home.write("work/dist/lepo-0.1.0-a-linux.tar.gz", "older");
    let ran = release("0.2.0");
    assert_eq!(ran.code, 0, "{}", ran.err);
    until("the tag", || sh(&home, "git tag").out == "v0.2.0\n");
    let sums = home.read("work/dist/SHA256SUMS");
    assert!(sums.contains("lepo-0.2.0-a-linux.tar.gz") && !sums.contains("0.1.0"), "{sums}");
    let ran = release("0.2.0");
    assert!(ran.code == 1 && ran.err.contains("v0.2.0 is there already"), "{}", ran.err);
}
