# Nix flake: `nix build 'git+file:.?dir=packaging'` in a checkout.
{
  description = "Conversations with language models as plain files in your repository";

  inputs.nixpkgs.url = "nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forAll = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = forAll (pkgs: rec {
        lepo = import ./default.nix { inherit pkgs; };
        default = lepo;
      });
    };
}
