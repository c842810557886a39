//! Which programs are of which family, and which files each family may load.

/// A family of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProgramFamily {
    Python,
    /// Tools that install the project that they are started in.
    PythonProject,
    JavaScript,
    /// Programs on the virtual machine of Java, with a class path.
    Java,
    /// Runners of packages by name, from `node_modules` if it is there.
    Packages,
    /// Runners of packages or images by name: an argument that is a file is data or settings.
    Runner,
    /// Shells and tools that build or run whatever is in the tree.
    Builder,
    /// Coding agents.
    Agent,
}

/// The programs of each family.
pub(super) const FAMILIES: &[(ProgramFamily, &[&str])] = &[
    (
        ProgramFamily::Python,
        &[
            "python",
            "pypy",
            "ipython",
            "uwsgi",
            "gunicorn",
            "uvicorn",
            "hypercorn",
            "granian",
            "daphne",
            "waitress-serve",
            "celery",
            "flask",
            "streamlit",
            "fastapi",
            "fastmcp",
            "mcp",
        ],
    ),
    (
        ProgramFamily::JavaScript,
        &[
            "node",
            "deno",
            "tsx",
            "ts-node",
            "ts-node-esm",
            "ts-node-dev",
            "tsn",
            "swc-node",
            "babel-node",
            "vite-node",
            "nodemon",
            "jiti",
            "esno",
            "esrun",
            "zx",
            "bun",
            "bunx",
            "electron",
        ],
    ),
    (
        ProgramFamily::Java,
        &["java", "javaw", "kotlin", "scala", "groovy", "clojure", "clj", "bb", "jshell", "jbang", "jruby"],
    ),
    (ProgramFamily::Packages, &["npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "bun", "corepack"]),
    (
        ProgramFamily::Runner,
        &["npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "uvx", "uv", "pipx", "docker", "podman", "corepack"],
    ),
    (
        ProgramFamily::Builder,
        &[
            "make",
            "gmake",
            "just",
            "task",
            "cargo",
            "go",
            "gradle",
            "gradlew",
            "mvn",
            "mvnw",
            "nix",
            "nix-shell",
            "devenv",
            "direnv",
            "mise",
            "rake",
            "bundle",
            "bundler",
            "composer",
            "dotnet",
            "swift",
            "zig",
            "cmake",
            "ninja",
            "meson",
            "bazel",
            "sbt",
            "lein",
            "mix",
            "stack",
            "cabal",
            "dune",
            "tox",
            "nox",
            "rails",
            "scons",
            "turbo",
            "nx",
            "lerna",
            "docker-compose",
            "expect",
            "tclsh",
            "xargs",
            "find",
        ],
    ),
    (
        ProgramFamily::Agent,
        &[
            "claude",
            "codex",
            "gemini",
            "opencode",
            "goose",
            "aider",
            "cursor-agent",
            "copilot",
            "qwen",
            "amp",
            "crush",
            "auggie",
            "droid",
            "kiro",
            "cline",
            "kilo",
        ],
    ),
];

pub(super) const SHELLS: &[&str] =
    &["sh", "bash", "zsh", "dash", "ksh", "mksh", "fish", "ash", "busybox", "nu", "elvish", "xonsh"];

/// Words behind a runner of packages that make it run no script of the project.
pub(super) const PACKAGE_WORDS: &[&str] = &["exec", "x", "dlx", "create", "init"];

/// Words that make a tool run within the project that it installs first.
pub(super) const PROJECT_RUNNERS: &[&str] =
    &["uv", "poetry", "pdm", "hatch", "rye", "pixi", "pipenv", "conda", "pip"];

/// Folders and files that coding agents obey.
pub(super) const AGENT_SETTINGS: &[&str] = &[
    ".claude",
    ".claude.json",
    ".mcp.json",
    ".codex",
    ".gemini",
    ".qwen",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".cursor",
    ".goosehints",
    ".config/goose",
    ".aider.conf.yml",
    ".env",
    ".amp",
    ".crush.json",
    "crush.json",
    ".factory",
    ".augment",
    ".kiro",
    ".clinerules",
    ".kilocode",
    ".github/copilot",
    ".vscode/mcp.json",
];

/// Endings of files that Python may load.
pub(super) const PYTHON: &[&str] =
    &["py", "pyc", "pyw", "pyo", "pyd", "so", "pth", "_pth", "zip", "egg", "whl", "pyz"];

/// Endings of files that Node and its like may load.
pub(super) const JAVASCRIPT: &[&str] =
    &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "node", "wasm"];

/// Endings of files that the virtual machine of Java may load, and of sources that its languages compile when they start.
pub(super) const JAVA: &[&str] = &[
    "class", "jar", "war", "zip", "jmod", "so", "dylib", "java", "kt", "kts", "scala", "sc", "groovy", "clj",
    "cljc", "edn",
];

/// Servers that put the folder in which they start before all others from which they import.
pub(super) const IMPORTERS: &[&str] = &[
    "gunicorn",
    "uvicorn",
    "uwsgi",
    "hypercorn",
    "granian",
    "daphne",
    "waitress-serve",
    "celery",
    "flask",
    "streamlit",
    "fastapi",
    "ipython",
];

/// Files that say what else is loaded.
pub(super) const MANIFESTS: &[&str] =
    &["pyvenv.cfg", "package.json", "tsconfig.json", "deno.json", "deno.jsonc", "bunfig.toml"];

/// Endings of scripts of shells.
pub(super) const SHELL_ENDINGS: &[&str] = &["sh", "bash", "zsh", "fish", "ksh"];

/// Files that begin with a dot and are loaded all the same.
pub(super) const HIDDEN: &[&str] = &[".env", ".npmrc", ".noderc", ".pth"];
