# Nix: builds lepo from the repository that this file is in, with `nix-build packaging`.
{ pkgs ? import <nixpkgs> { } }:

pkgs.rustPlatform.buildRustPackage {
  pname = "lepo";
  version = (builtins.fromTOML (builtins.readFile ../Cargo.toml)).workspace.package.version;

  src = pkgs.lib.cleanSource ../.;
  cargoLock.lockFile = ../Cargo.lock;

  # The program, the small model and the reader of databases.
  cargoBuildFlags = [ "--workspace" ];

  # The tests start programs that a build has no access to; scripts/test runs them.
  doCheck = false;

  nativeBuildInputs = [ pkgs.installShellFiles ];

  postInstall = ''
    installManPage man/*/*
    installShellCompletion --bash --name lepo completions/lepo.bash
    installShellCompletion --zsh completions/_lepo
    installShellCompletion --fish completions/lepo.fish
  '';

  meta = {
    description = "Conversations with language models as plain files, the way git keeps source";
    license = [ pkgs.lib.licenses.mit pkgs.lib.licenses.asl20 ];
    mainProgram = "lepo";
    platforms = pkgs.lib.platforms.linux ++ pkgs.lib.platforms.darwin;
  };
}
