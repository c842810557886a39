//! Folders that the definition of a program names as code: by an option, in a class path, by a variable, or as what runs.

use std::path::PathBuf;

use super::NamedProgram;
use super::candidates::candidates;
use super::loaded::short_text;

/// Options whose value is a folder, or a list of folders, from which a program takes code.
const CODE_FOLDERS: &[&str] = &[
    "--from",
    "--with",
    "--with-editable",
    "--directory",
    "--project",
    "--package",
    "--prefix",
    "-p",
    "-C",
    // https://docs.oracle.com/en/java/javase/24/docs/specs/man/java.html
    "-cp",
    "-classpath",
    "--class-path",
    "--classpath",
    "--module-path",
    "--upgrade-module-path",
    "--patch-module",
    "-Djava.class.path",
    "-Djava.library.path",
    "-Dloader.path",
    // ruby(1), perlrun(1), https://docs.gunicorn.org, https://www.uvicorn.org/settings/, https://bun.com/docs/runtime
    "-I",
    "--pythonpath",
    "--app-dir",
    "--chdir",
    "--cwd",
];

/// Options whose value follows without a space.
const ATTACHED: &[&str] = &["-I", "-Xbootclasspath/a:", "-Xbootclasspath/p:", "-Xbootclasspath:"];

/// Options of Java without which the class path is the folder in which it starts.
const CLASS_PATHS: &[&str] =
    &["-cp", "-classpath", "--class-path", "--classpath", "-jar", "-Djava.class.path"];

/// Variables with options of Java.
const JAVA_OPTIONS: &[&str] = &["JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS"];

/// Returns the folders.
pub(super) fn code_folders(program: &NamedProgram) -> Vec<PathBuf> {
    let words = option_words(program);
    let mut named: Vec<&str> = program.loader_values().flat_map(candidates).collect();
    named.extend(
        program.loader_values().flat_map(|value| value.split(':')).filter(|path| path.ends_with('*')),
    );
    let mut before = "";
    for word in &words {
        let attached =
            ATTACHED.iter().find_map(|option| word.strip_prefix(option)).filter(|it| !it.is_empty());
        let (option, value) = word.split_once('=').unwrap_or((before, word));
        let is_relative = word == "." || word.starts_with("./") || word.starts_with("../");
        let is_run = !before.starts_with('-') && is_relative;
        if CODE_FOLDERS.contains(&option) || CODE_FOLDERS.contains(&before) || is_run {
            named.push(value);
            named.extend(value.split(':'));
        }
        named.extend(attached.into_iter().flat_map(|value| value.split(':')));
        before = word;
    }
    let folders = named.into_iter().map(|path| {
        // `lib/*` means all archives of a folder.
        let path = path.trim_start_matches("file://");
        program.dir.join(path.strip_suffix('*').unwrap_or(path))
    });
    folders.filter(|path| path.is_dir()).filter_map(|path| path.canonicalize().ok()).collect()
}

/// Whether a program on the virtual machine of Java finds classes in the folder in which it starts.
pub(super) fn has_classes_in_folder(program: &NamedProgram) -> bool {
    let is_set = program.env.iter().any(|(name, _)| name == "CLASSPATH");
    let words = option_words(program);
    let names = words.iter().map(|word| word.split_once('=').map_or(&**word, |(name, _)| name));
    !is_set && !names.into_iter().any(|name| CLASS_PATHS.contains(&name))
}

/// Returns the arguments, also split at spaces, and options from variables and files of arguments (`@args.txt`).
fn option_words(program: &NamedProgram) -> Vec<String> {
    let has_space = |text: &&String| text.contains(char::is_whitespace);
    let within = program.args.iter().filter(has_space).flat_map(|text| text.split_whitespace());
    let mut words: Vec<String> = program.args.clone();
    words.extend(within.map(str::to_string));
    let options = program.env.iter().filter(|(name, _)| JAVA_OPTIONS.contains(&&**name));
    words.extend(options.flat_map(|(_, value)| value.reveal().split_whitespace()).map(str::to_string));
    let files =
        program.args.iter().filter_map(|arg| arg.strip_prefix('@')).map(|path| program.dir.join(path));
    let texts: Vec<String> = files.filter_map(|path| short_text(&path)).collect();
    let unquoted = |word: &str| word.trim_matches(['"', '\'']).to_string();
    words.extend(texts.iter().flat_map(|text| text.split_whitespace()).map(unquoted));
    words
}

/// Adds the values of variables that make programs load files (`NODE_OPTIONS=--import tsx`).
pub(super) fn words_with_variables<'p>(program: &'p NamedProgram, words: &[&'p str]) -> Vec<&'p str> {
    words.iter().copied().chain(program.loader_values().flat_map(str::split_whitespace)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::reach_of;
    use super::*;
    use lepo_base::secret::Secret;

    #[test]
    fn folders_of_classes_are_found_in_every_form() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for path in
            ["build/com/x/Main.class", "lib/one.jar", "src/Main.java", "Top.class", "data/x", "args.txt"]
        {
            std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            std::fs::write(top.join(path), "").unwrap();
        }
        std::fs::write(top.join("args.txt"), "-cp \"build\"\ncom.x.Main\n").unwrap();
        for (line, reached, other) in [
            ("java -cp build com.x.Main", "build/com/x/Other.class", "lib/two.jar"),
            ("java -cp build com.x.Main", "build/META-INF/services/x", "New.class"),
            ("java -classpath none:lib/* x.Main", "lib/two.jar", "build/x.class"),
            ("java --class-path=lib/*:build x.Main", "build/x.class", "New.class"),
            ("java --class-path lib/* x.Main", "lib/two.jar", "build/x.class"),
            ("java -cp . x.Main", "New.class", "/x.class"),
            ("java Top", "New.class", "data/y"),
            ("java -jar lib/one.jar", "lib/two.jar", "lib/two.md"),
            ("java -p lib -m m/x.Main", "lib/two.jar", "lib2/x.md"),
            ("java -Xbootclasspath/a:lib/one.jar:build Top", "build/x", "data/y"),
            ("java @args.txt", "build/x", "data/y"),
            ("sh -c java_-cp_build_com.x.Main", "build/x.class", "data/y"),
            ("java src/Main.java", "src/Other.java", "data/y"),
            ("ruby -Ilib x.rb", "lib/x.rb", "data/y"),
            ("ruby -I lib x.rb", "lib/x.rb", "data/y"),
        ] {
            let words: Vec<String> = line.split(' ').map(|word| word.replace('_', " ")).collect();
            let reach = reach_of(&NamedProgram::new(&words[0], &words[1..], &top));
            assert!(reach.covers(&top.join(reached), false), "{line} {reached}");
            assert!(!reach.covers(&top.join(other), false), "{line} {other}");
        }
        for (name, value) in [("CLASSPATH", "none:lib/*"), ("JDK_JAVA_OPTIONS", "-cp lib/*")] {
            let env = vec![(name.to_string(), Secret::new(value))];
            let program = NamedProgram { env, ..NamedProgram::new("java", &["x.Main".to_string()], &top) };
            let reach = reach_of(&program);
            assert!(reach.covers(&top.join("lib/two.jar"), false), "{name}");
            assert!(!reach.covers(&top.join("New.class"), false), "{name}");
        }
    }
}
