# typed: strict
# frozen_string_literal: true

# Homebrew: builds lepo from the repository that this file is in.
class Lepo < Formula
  desc "Conversations with language models as plain files, the way git keeps source"
  url "file://#{File.expand_path("..", __dir__)}/.git", using: :git, branch: "main"
  version File.read("#{__dir__}/../Cargo.toml")[/^version = "(.+)"/, 1]
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    man1.install Dir["man/man1/*.1"]
    man5.install Dir["man/man5/*.5"]
    man7.install Dir["man/man7/*.7"]
    bash_completion.install "completions/lepo.bash" => "lepo"
    zsh_completion.install "completions/_lepo"
    fish_completion.install "completions/lepo.fish"
  end

  test do
    system bin/"lepo", "init"
    pipe_output("#{bin}/lepo add", "What is kept?\n", 0)
    assert_match "What is kept?", shell_output("#{bin}/lepo show")
    system bin/"lepo", "fsck"
  end
end
