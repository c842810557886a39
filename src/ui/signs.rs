//! The signs of a debate: pictures if the terminal can show them, else ASCII.

use crate::term::is_dumb;
use lepo_base::env;
use lepo_turn::Bid;

/// The signs that the terminal can show.
#[derive(Debug, Clone, Copy)]
pub struct Signs {
    pictures: bool,
}

impl Signs {
    /// Chooses by the environment: pictures need a UTF-8 locale and a terminal that is not dumb.
    pub fn of_environment() -> Signs {
        Signs::new(env::text, is_dumb())
    }

    fn new(env: impl Fn(&str) -> Option<String>, dumb: bool) -> Signs {
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(&env).find(|value| !value.is_empty());
        let utf8 = locale.is_some_and(|locale| {
            let locale = locale.to_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        Signs { pictures: utf8 && !dumb }
    }

    /// Returns the separator between two parts of a line.
    pub fn dot(self) -> &'static str {
        if self.pictures { "·" } else { "-" }
    }

    /// Returns the sign before the name of the speaker.
    pub fn arrow(self) -> &'static str {
        if self.pictures { "→" } else { "->" }
    }

    /// Returns the sign of a debater that wants to speak, or does not.
    pub fn bid(self, bid: Bid) -> String {
        match (self.pictures, bid) {
            (true, Bid::Request) => format!("✋ {}", bid.as_str()),
            (true, Bid::Pass) => format!("💤 {}", bid.as_str()),
            (false, _) => bid.as_str().into(),
        }
    }

    /// Returns the line above a speech.
    pub fn speaker(self, name: &str) -> String {
        format!("[{name}]{}", if self.pictures { " 🎤" } else { "" })
    }

    pub fn conclusion(self) -> String {
        format!("[conclusion]{}", if self.pictures { " 📋" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_for_those_who_can_see_them() {
        for (env, pictures) in [
            ("LANG=ko_KR.UTF-8", true),
            ("LANG=C.utf8 TERM=xterm", true),
            ("LC_ALL=C LANG=ko_KR.UTF-8", false),
            ("LANG=C LC_CTYPE=en_US.UTF-8", true),
            ("LANG=en_US.UTF-8 TERM=dumb", false),
            ("LANG=POSIX", false),
            ("", false),
        ] {
            let value = |name: &str| {
                let found = env.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
                found.map(str::to_string)
            };
            assert_eq!(
                Signs::new(value, value("TERM").as_deref() == Some("dumb")).pictures,
                pictures,
                "{env}"
            );
        }
    }
}
