//! Where lepo's own files are, whatever the environment says.

use super::Vars;
use crate::config::{Env, Paths};

#[test]
fn each_directory_has_one_source() {
    let table: [(Vars, &str, &str, &str); 5] = [
        (&[("HOME", "/h")], "/h/.config/lepo", "/h/.local/state/lepo", "/h/.local/share/lepo"),
        (
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s"), ("XDG_DATA_HOME", "/d")],
            "/c/lepo",
            "/s/lepo",
            "/d/lepo",
        ),
        (
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "c"), ("XDG_STATE_HOME", "./s"), ("XDG_DATA_HOME", "")],
            "/h/.config/lepo",
            "/h/.local/state/lepo",
            "/h/.local/share/lepo",
        ),
        (
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("LEPO_CONFIG_HOME", "/mine")],
            "/mine",
            "/h/.local/state/lepo",
            "/h/.local/share/lepo",
        ),
        (
            &[("LEPO_CONFIG_HOME", "/mine"), ("XDG_STATE_HOME", "/s"), ("XDG_DATA_HOME", "/d")],
            "/mine",
            "/s/lepo",
            "/d/lepo",
        ),
    ];
    for (variables, config, state, data) in table {
        let paths = Paths::from_env(&Env::of(variables)).unwrap();
        let got = [&paths.config, &paths.state, &paths.data].map(|path| path.to_str().unwrap());
        assert_eq!(got, [config, state, data], "{variables:?}");
    }
}

#[test]
fn without_a_home_it_says_what_to_set() {
    for variables in [&[][..], &[("HOME", "")], &[("HOME", "relative")]] {
        let error = Paths::from_env(&Env::of(variables)).unwrap_err();
        assert_eq!(error.kind.exit_code(), 2);
        assert!(error.hint.unwrap().contains("XDG_CONFIG_HOME"));
    }
}
