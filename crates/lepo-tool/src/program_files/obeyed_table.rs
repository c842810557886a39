//! Which files programs obey in the folder in which they start and in those above it.

/// Programs by the start of their name, and the files. A name that ends in `/` means the files in that folder.
pub(super) type ObeyedRow = (&'static [&'static str], &'static [&'static str]);

/// The rows, each with its source.
pub(super) const OBEYED: &[ObeyedRow] = &[
    // Shims of version managers are in `PATH` under any name. https://mise.jdx.dev/configuration.html,
    // https://asdf-vm.com/manage/configuration.html, https://github.com/pyenv/pyenv#understanding-python-version-selection
    (
        &[""],
        &[
            ".tool-versions",
            "mise.toml",
            ".mise.toml",
            "mise.local.toml",
            ".mise.local.toml",
            ".mise/",
            "mise/config.toml",
            ".config/mise.toml",
            ".config/mise/",
        ],
    ),
    (
        &["python", "pypy", "ruby", "node", "java", "go"],
        &[".python-version", ".ruby-version", ".node-version", ".java-version", ".go-version"],
    ),
    // https://github.com/npm/cli/blob/latest/docs/lib/content/configuring-npm/folders.md, https://pnpm.io/pnpmfile,
    // https://yarnpkg.com/configuration/yarnrc, https://github.com/nodejs/corepack#environment-variables
    (
        &["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "corepack"],
        &[
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".yarn/releases/",
            ".yarn/plugins/",
            ".pnp.cjs",
            ".pnp.data.json",
            ".pnpmfile.cjs",
            ".pnpmfile.mjs",
            "pnpm-workspace.yaml",
            "package-lock.json",
            "npm-shrinkwrap.json",
            "pnpm-lock.yaml",
            "yarn.lock",
            "bun.lock",
            "bun.lockb",
            ".pnp.loader.mjs",
            ".yarn/",
            ".corepack.env",
        ],
    ),
    // https://nodejs.org/api/cli.html#--experimental-default-config-file
    (&["node"], &["node.config.json"]),
    // `ts-node.require` and `ts-node.compiler` run code: https://typestrong.org/ts-node/docs/options,
    // https://tsx.is/typescript, https://github.com/swc-project/swc-node, https://github.com/wclr/ts-node-dev
    (
        &[
            "ts-node",
            "tsx",
            "tsn",
            "tsimp",
            "swc-node",
            "swc",
            "esbuild-register",
            "esbuild-runner",
            "esrun",
            "esno",
            "jiti",
        ],
        &["tsconfig.json", "jsconfig.json", "package.json", ".swcrc", "esbuild-runner.config.js"],
    ),
    // https://babeljs.io/docs/config-files
    (
        &["babel", "babel-node"],
        &[
            "babel.config.js",
            "babel.config.cjs",
            "babel.config.mjs",
            "babel.config.json",
            "babel.config.cts",
            ".babelrc",
            ".babelrc.js",
            ".babelrc.cjs",
            ".babelrc.mjs",
            ".babelrc.json",
            ".babelrc.cts",
        ],
    ),
    // https://github.com/remy/nodemon#config-files, https://vite.dev/config/
    (&["nodemon"], &["nodemon.json", "package.json"]),
    (
        &["vite", "vite-node", "vitest"],
        &[
            "vite.config.js",
            "vite.config.mjs",
            "vite.config.cjs",
            "vite.config.ts",
            "vite.config.mts",
            "vite.config.cts",
            "tsconfig.json",
        ],
    ),
    // https://github.com/motdotla/dotenv: `node -r dotenv/config`
    (&["dotenv", "dotenvx"], &[".env", ".env.vault"]),
    // `preload` runs code: https://bun.com/docs/runtime/bunfig, https://bun.com/docs/runtime/env
    (
        &["bun"],
        &[
            "bunfig.toml",
            ".env",
            ".env.local",
            ".env.development",
            ".env.development.local",
            ".env.production",
            ".env.production.local",
            "tsconfig.json",
            "jsconfig.json",
        ],
    ),
    // https://docs.deno.com/runtime/fundamentals/configuration/
    (&["deno"], &["deno.json", "deno.jsonc", "deno.lock", "package.json", "tsconfig.json", ".npmrc"]),
    // https://docs.astral.sh/uv/concepts/configuration-files/, https://pipenv.pypa.io/en/latest/configuration.html
    (
        &["uv", "pip", "pipenv", "poetry", "hatch", "rye", "pdm", "pixi", "conda"],
        &[
            "pyproject.toml",
            "uv.toml",
            "uv.lock",
            ".python-version",
            "poetry.toml",
            "poetry.lock",
            "setup.py",
            "setup.cfg",
            "hatch.toml",
            "pixi.toml",
            "pixi.lock",
            "pdm.toml",
            "pdm.lock",
        ],
    ),
    (&["pipenv"], &["Pipfile", "Pipfile.lock", ".env"]),
    // https://gunicorn.org/reference/settings/#config, https://flask.palletsprojects.com/en/stable/cli/,
    // https://docs.celeryq.dev/en/stable/userguide/configuration.html, https://gofastmcp.com/deployment/server-configuration
    (&["gunicorn"], &["gunicorn.conf.py"]),
    (&["flask"], &[".flaskenv", ".env", "wsgi.py", "app.py"]),
    (&["celery"], &["celeryconfig.py"]),
    (&["streamlit"], &[".streamlit/"]),
    (&["fastmcp"], &["fastmcp.json", ".env"]),
    (&["ipython"], &["ipython_config.py"]),
    // https://bundler.io/man/bundle-config.1.html, https://guides.rubygems.org/command-reference/,
    // https://github.com/rack/rackup, https://puma.io/puma/
    (
        &["ruby", "jruby", "bundle", "bundler", "rake", "gem", "irb", "rackup", "puma", "rails"],
        &[
            "Gemfile",
            "Gemfile.lock",
            "gems.rb",
            "gems.locked",
            ".bundle/config",
            ".bundle/plugin/",
            "Rakefile",
            ".ruby-version",
            ".irbrc",
            "config.ru",
            "config/puma.rb",
        ],
    ),
    // Interfaces other than the command line look in the folder: https://www.php.net/manual/en/configuration.file.php;
    // https://getcomposer.org/doc/06-config.md
    (
        &["php", "composer"],
        &[
            "composer.json",
            "composer.lock",
            "auth.json",
            "php.ini",
            "php-cli.ini",
            ".user.ini",
            "vendor/autoload.php",
        ],
    ),
    // https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html
    (&["R", "Rscript"], &[".Rprofile", ".Renviron"]),
    // https://hexdocs.pm/iex/IEx.html#module-the-iex-exs-file, https://www.erlang.org/doc/apps/erts/erl_cmd
    (&["iex", "elixir"], &[".iex.exs"]),
    (&["erl"], &[".erlang"]),
    // https://downloads.haskell.org/ghc/latest/docs/users_guide/ghci.html, https://ocaml.org/manual/toplevel.html
    (&["ghci", "runghc"], &[".ghci"]),
    (&["ocaml", "utop"], &[".ocamlinit"]),
    (&["make", "gmake"], &["Makefile", "makefile", "GNUmakefile"]),
    (&["just", "task"], &["justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml"]),
    // https://doc.rust-lang.org/cargo/reference/config.html
    (
        &["cargo"],
        &[
            "Cargo.toml",
            "Cargo.lock",
            "build.rs",
            ".cargo/config.toml",
            ".cargo/config",
            "rust-toolchain",
            "rust-toolchain.toml",
        ],
    ),
    // https://go.dev/ref/mod
    (&["go"], &["go.mod", "go.sum", "go.work", "go.work.sum", "vendor/modules.txt"]),
    // https://learn.microsoft.com/visualstudio/msbuild/customize-by-directory,
    // https://learn.microsoft.com/dotnet/core/tools/global-json, https://learn.microsoft.com/nuget/reference/nuget-config-file
    (
        &["dotnet"],
        &[
            "Directory.Build.props",
            "Directory.Build.targets",
            "Directory.Build.rsp",
            "Directory.Packages.props",
            "global.json",
            "nuget.config",
            "NuGet.config",
            "NuGet.Config",
            ".config/dotnet-tools.json",
        ],
    ),
    // https://docs.gradle.org/current/userguide/build_environment.html, https://maven.apache.org/configure.html
    (
        &["gradle", "gradlew", "mvn", "mvnw"],
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle/wrapper/",
            "gradle/libs.versions.toml",
            "pom.xml",
            ".mvn/",
            ".mvn/wrapper/",
        ],
    ),
    // Servers by Spring Boot and Quarkus: https://docs.spring.io/spring-boot/reference/features/external-config.html,
    // https://quarkus.io/guides/config-reference
    (
        &["java"],
        &[
            "application.properties",
            "application.yml",
            "application.yaml",
            "loader.properties",
            "config/application.properties",
            "config/application.yml",
            "config/application.yaml",
            ".env",
        ],
    ),
    // https://www.jbang.dev/documentation/, https://clojure.org/reference/deps_edn, https://book.babashka.org/,
    // https://scala-cli.virtuslab.org/docs/guides/introduction/using-directives
    (&["jbang"], &["jbang.properties", ".jbang/", "jbang-catalog.json"]),
    (&["clojure", "clj", "bb"], &["deps.edn", "bb.edn"]),
    (&["scala", "scala-cli"], &["project.scala"]),
    (
        &["docker", "podman"],
        &["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml", "Dockerfile", ".env"],
    ),
    (
        &["nix", "devenv"],
        &["flake.nix", "flake.lock", "shell.nix", "default.nix", "devenv.nix", "devenv.yaml"],
    ),
    (&["direnv"], &[".envrc"]),
    (
        &["claude", "codex", "gemini", "opencode"],
        &[
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".mcp.json",
            ".codex/config.toml",
            ".gemini/settings.json",
            "opencode.json",
            "opencode.jsonc",
            ".opencode/plugin/",
        ],
    ),
];
