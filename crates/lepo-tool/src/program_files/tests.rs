//! Definitions of programs, and the files from which each starts.

use std::os::unix::fs::symlink;

use super::*;

/// A worktree with the files that the definitions below name.
fn tree() -> (tempfile::TempDir, PathBuf) {
    let temp_dir = tempfile::tempdir().unwrap();
    let tree = temp_dir.path().canonicalize().unwrap().join("work");
    for path in [
        "tools/server.py",
        "tools/lib.py",
        "tools/data/notes.txt",
        "tools/helpers/__init__.py",
        "tools/helpers/deep.py",
        "app/__init__.py",
        "app/__main__.py",
        "app/core/run.py",
        "json.py",
        "hook.js",
        "args.txt",
        "package.json",
        ".npmrc",
        "Makefile",
        "node_modules/@s/pkg/package.json",
        "node_modules/@s/pkg/cli.js",
        "node_modules/.bin/pkg",
        ".venv/pyvenv.cfg",
        ".venv/bin/server",
        ".venv/lib/python3/site-packages/x.pth",
        ".venv/lib/python3/site-packages/x/deep.py",
        "store.db",
        ".claude/settings.json",
        "bin/tool",
        "pack/main.js",
        "tools/inner/__main__.py",
        "Theirs.pm",
        "theirs.rb",
    ] {
        let path = tree.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    std::fs::write(tree.join("package.json"), r#"{"scripts":{"serve":"python3 tools/server.py"}}"#).unwrap();
    std::fs::write(tree.join("Makefile"), "serve:\n\tnode ./hook.js\n").unwrap();
    std::fs::write(tree.join("start.sh"), "exec x args.txt\n").unwrap();
    std::fs::write(tree.join("pack/package.json"), r#"{"main":"main.js"}"#).unwrap();
    std::fs::create_dir(temp_dir.path().join("elsewhere")).unwrap();
    std::fs::write(temp_dir.path().join("elsewhere/outside.py"), "x").unwrap();
    symlink("../tools/server.py", tree.join("bin/link")).unwrap();
    symlink("../work/tools/server.py", temp_dir.path().join("elsewhere/into")).unwrap();
    (temp_dir, tree)
}

fn short(paths: &BTreeSet<PathBuf>, tree: &Path) -> String {
    let names: Vec<String> =
        paths.iter().map(|path| path.strip_prefix(tree).unwrap().display().to_string()).collect();
    names.join(" ")
}

/// Returns the files of a command line that starts in `dir` below the tree: the read-only ones, and the other ones that
/// are compared.
fn files(line: &str, dir: &str) -> (String, String) {
    let (_place, tree) = tree();
    let line = line.replace("TREE", tree.to_str().unwrap());
    let words: Vec<String> =
        line.split(' ').map(|word| word.replace('_', " ").replace("\u{0}", "_")).collect();
    let (program, args) = words.split_first().unwrap();
    let files = NamedProgram::new(program, args, &tree.join(dir)).files(&tree);
    let besides = files.compared.difference(&files.read_only).cloned().collect();
    (short(&files.read_only, &tree), short(&besides, &tree))
}

#[test]
fn the_files_of_a_definition_are_found_in_every_form() {
    // In a line, `_` means a blank within a word, and a NUL byte means `_`.
    for (line, dir, read_only, besides) in [
        ("python3 tools/server.py", "", "tools/server.py", "LIBS"),
        ("python3 TREE/tools/server.py", "../elsewhere", "tools/server.py", "LIBS"),
        ("./bin/tool", "", "bin/tool", ""),
        ("../bin/tool", "tools", "bin/tool", ""),
        ("TREE/../elsewhere/into", "../elsewhere", "tools/server.py", "LIBS"),
        ("bin/link", "", "tools/server.py", "bin/link LIBS"),
        ("node --require=./hook.js -", "", "hook.js", "pack/main.js"),
        ("node -r./hook.js -", "", "hook.js", "pack/main.js"),
        ("java @args.txt", "", "args.txt", ""),
        ("node --import=file://TREE/hook.js", "", "hook.js", "pack/main.js"),
        ("sh -c exec_bin/tool;true", "", "bin/tool", ""),
        ("x --directory tools server.py", "", "tools/server.py", "LIBS"),
        ("python3 ../elsewhere/outside.py", "", "", ""),
        ("x --db store.db", "", "", ""),
        ("x store.db", "", "store.db", ""),
        ("x none.py", "", "", ""),
        ("make", "", "", "Makefile hook.js pack/main.js"),
        ("make", "tools", "", "Makefile hook.js pack/main.js"),
        ("npm run serve", "", "", ".npmrc package.json tools/server.py LIBS"),
        ("npm run other", "", "", ".npmrc package.json"),
        ("./start.sh", "", "start.sh", "args.txt"),
        ("claude -p", "", "", ".claude/settings.json"),
        ("node hook", "", "hook.js", "pack/main.js"),
        ("node ./pack", "", "pack/main.js pack/package.json", ""),
        ("python3 tools/inner", "", "tools/inner/\u{0}\u{0}main\u{0}\u{0}.py", ""),
        ("npx -y a-server .", "", "", ".npmrc package.json"),
        ("perl -I. -MTheirs -e1", "", "Theirs.pm", ""),
        ("ruby -r./theirs -e1", "", "theirs.rb", ""),
    ] {
        let libs = "tools/helpers/\u{0}\u{0}init\u{0}\u{0}.py tools/helpers/deep.py tools/inner/\u{0}\u{0}main\u{0}\u{0}.py tools/lib.py";
        let besides = besides.replace("LIBS", libs);
        let plain = |text: &str| {
            let mut names: Vec<String> =
                text.split_whitespace().map(|name| name.replace('\u{0}', "_")).collect();
            names.sort();
            names.join(" ")
        };
        let (found, loaded) = files(line, dir);
        assert_eq!((found, plain(&loaded)), (plain(read_only), plain(&besides)), "{line} in {dir:?}");
    }
}

#[test]
fn modules_packages_and_environments_are_found() {
    let (read_only, besides) = files("python3 -m app", "");
    assert_eq!(read_only, "app/__init__.py app/__main__.py");
    assert_eq!(
        besides,
        "app/core/run.py json.py tools/helpers/__init__.py tools/helpers/deep.py tools/inner/__main__.py tools/lib.py \
         tools/server.py"
    );
    let (read_only, besides) = files("npx -y @s/pkg@1.0", "tools");
    assert_eq!(read_only, "node_modules/@s/pkg");
    for name in [".npmrc", "package.json", "node_modules/.bin/pkg", "node_modules/@s/pkg/package.json"] {
        assert!(besides.split(' ').any(|found| found == name), "{name}: {besides}");
    }
    let (read_only, besides) = files(".venv/bin/server", "");
    assert_eq!(read_only, ".venv .venv/bin/server");
    assert_eq!(besides, ".venv/lib/python3/site-packages/x.pth .venv/pyvenv.cfg");
}

#[test]
fn variables_that_load_files_count_and_others_do_not() {
    let (_place, tree) = tree();
    for (name, value, found) in [
        ("NODE_OPTIONS", "--require ./hook.js", "hook.js"),
        ("PYTHONSTARTUP", "tools/lib.py", "tools/lib.py"),
        ("MEMORY_FILE", "args.txt", ""),
    ] {
        let env = vec![(name.to_string(), Secret::new(value))];
        let program = NamedProgram { env, ..NamedProgram::new("x", &[], &tree) };
        assert_eq!(short(&program.files(&tree).read_only, &tree), found, "{name}");
    }
    let env = vec![("PATH".to_string(), Secret::new(tree.join("bin").to_str().unwrap()))];
    let program = NamedProgram { env, ..NamedProgram::new("tool", &[], Path::new("/")) };
    assert_eq!(short(&program.files(&tree).read_only, &tree), "bin/tool");
}

#[test]
fn outside_of_a_tree_nothing_is_found() {
    let (temp_dir, tree) = tree();
    let program = NamedProgram::new("python3", &["tools/server.py".to_string()], &tree);
    assert_eq!(program.files(&temp_dir.path().join("elsewhere")), ProgramFiles::default());
    assert_eq!(program.files(Path::new("/no-such-folder")), ProgramFiles::default());
}

#[test]
fn a_script_that_leads_out_of_its_folder_reaches_its_tree() {
    for (program, script, text, path, is_reached) in [
        ("node", "server.js", "f(...list)", "lib/x.js", false),
        ("node", "server.js", "require('../lib/x')", "lib/x.js", true),
        ("node", "server.js", "require('../lib/x')", "src/main.rs", false),
        ("python3", "server.py", "Path(__file__).parent", "lib/x.py", true),
        ("ruby", "server.rb", "require_relative '../lib/x'", "lib/x.rb", true),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("app/.git")).unwrap();
        std::fs::create_dir(top.join("app/pkg")).unwrap();
        std::fs::write(top.join("app/.git/HEAD"), "").unwrap();
        std::fs::write(top.join("app/pkg").join(script), "").unwrap();
        let beside = script.replace("server", "beside");
        std::fs::write(top.join("app/pkg").join(beside), text).unwrap();
        let named = NamedProgram::new(program, &[format!("pkg/{script}")], &top.join("app"));
        assert_eq!(reach_of(&named).covers(&top.join("app").join(path), false), is_reached, "{text}");
    }
}
