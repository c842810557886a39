//! A real sshd on loopback with a key of its own, started without any right that its user has not.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::home::until;

/// An sshd that ends with its test.
pub struct Sshd {
    child: Child,
    port: u16,
    /// For the variable `GIT_SSH_COMMAND`.
    pub client: String,
}

impl Sshd {
    /// A server with its files in `dir`; the error says why there is none.
    pub fn start(dir: &Path) -> Result<Sshd, String> {
        let program = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"]
            .into_iter()
            .find(|path| Path::new(path).exists())
            .ok_or("no sshd (apt-get install openssh-server)")?;
        let own = |name: &str| dir.join(name).to_string_lossy().into_owned();
        for key in ["host", "user"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &own(key)]).status();
            if !made.is_ok_and(|status| status.success()) {
                return Err("no ssh-keygen".into());
            }
        }
        std::fs::copy(dir.join("user.pub"), dir.join("authorized")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n\
             AcceptEnv GIT_PROTOCOL\nSetEnv PATH={}\n",
            own("host"),
            own("authorized"),
            std::env::var("PATH").unwrap_or_default(),
        );
        std::fs::write(dir.join("config"), config).unwrap();
        // The folder that root's sshd changes to, which a running system has.
        let _ = std::fs::create_dir("/run/sshd");
        let child = Command::new(program)
            .args(["-D", "-e", "-f", &own("config")])
            .stderr(std::fs::File::create(dir.join("log")).unwrap())
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let client = format!(
            "ssh -F none -i {} -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=no \
             -o UserKnownHostsFile={}",
            own("user"),
            own("known")
        );
        let mut server = Sshd { child, port, client };
        until("sshd", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok() || server.child.try_wait().unwrap().is_some()
        });
        let log = || std::fs::read_to_string(dir.join("log")).unwrap_or_default();
        if server.child.try_wait().unwrap().is_some() {
            return Err(format!("sshd ended: {}", log()));
        }
        let tried = Command::new("sh")
            .args(["-c", &format!("{} -p {port} 127.0.0.1 git --version", server.client)])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        match tried.status.success() {
            true => Ok(server),
            false => Err(format!("sshd lets nobody in: {}{}", String::from_utf8_lossy(&tried.stderr), log())),
        }
    }

    pub fn url(&self, repository: &Path) -> String {
        format!("ssh://127.0.0.1:{}{}", self.port, repository.display())
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
