# Evaluates default.nix with stand-ins for what it takes from nixpkgs, where there is no nixpkgs.
let
  pkgs = {
    rustPlatform.buildRustPackage = package: package;
    installShellFiles = "installShellFiles";
    lib = {
      cleanSource = source: source;
      licenses = { mit = "MIT"; asl20 = "Apache-2.0"; };
      platforms = { linux = [ "linux" ]; darwin = [ "darwin" ]; };
    };
  };
  package = import ./default.nix { inherit pkgs; };
in
assert package.pname == "lepo";
assert builtins.match "[0-9]+\\.[0-9]+\\.[0-9]+" package.version != null;
assert builtins.pathExists (package.src + "/src/main.rs");
assert builtins.pathExists package.cargoLock.lockFile;
"${package.pname} ${package.version}"
