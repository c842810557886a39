//! The programs of each family, and the files that each family may load.

/// A family of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProgramFamily {
    Python,
    /// Tools that install the project in which they start.
    PythonProject,
    JavaScript,
    /// Programs on the Java virtual machine, with a class path.
    Java,
    /// Runners of packages by name, preferably from `node_modules`.
    Packages,
    /// Runners of packages or images by name; an argument that is a file is data or settings.
    Runner,
    /// Shells, and tools that build or run anything in the tree.
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

/// Arguments of a package runner with which it does not run a script of the project.
pub(super) const PACKAGE_WORDS: &[&str] = &["exec", "x", "dlx", "create", "init"];

/// Arguments with which a tool installs the project, and then runs within it.
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

/// Extensions of files that Python may load.
pub(super) const PYTHON: &[&str] =
    &["py", "pyc", "pyw", "pyo", "pyd", "so", "pth", "_pth", "zip", "egg", "whl", "pyz"];

/// Extensions of files that Node and similar programs may load.
pub(super) const JAVASCRIPT: &[&str] =
    &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "node", "wasm"];

/// Extensions of files that the Java virtual machine may load, and of sources that it compiles at start.
pub(super) const JAVA: &[&str] = &[
    "class", "jar", "war", "zip", "jmod", "so", "dylib", "java", "kt", "kts", "scala", "sc", "groovy", "clj",
    "cljc", "edn",
];

/// Servers that put their start folder first in the search path for imports.
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

/// Files that list what else is loaded.
pub(super) const MANIFESTS: &[&str] =
    &["pyvenv.cfg", "package.json", "tsconfig.json", "deno.json", "deno.jsonc", "bunfig.toml"];

/// Extensions of shell scripts.
pub(super) const SHELL_ENDINGS: &[&str] = &["sh", "bash", "zsh", "fish", "ksh"];

/// Hidden files that programs load.
pub(super) const HIDDEN: &[&str] = &[".env", ".npmrc", ".noderc", ".pth"];
