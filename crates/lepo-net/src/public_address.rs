//! Public and private addresses and names: an untrusted URL must not reach the private ones.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Host;

/// Whether a host is not a private address by its text alone. A proxy resolves names itself, so with a proxy a name
/// that only private networks use counts as private too.
pub fn is_public_host(host: &Host<&str>) -> bool {
    is_public(host, has_proxy())
}

fn is_public(host: &Host<&str>, has_proxy: bool) -> bool {
    match host {
        Host::Domain(name) => !has_proxy || !is_private_name(name),
        Host::Ipv4(ip) => is_public_address(IpAddr::V4(*ip)),
        Host::Ipv6(ip) => is_public_address(IpAddr::V6(*ip)),
    }
}

/// Whether the environment names a proxy, which may resolve names.
fn has_proxy() -> bool {
    ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
        .iter()
        .any(|name| lepo_base::env::text(name).is_some_and(|proxy| !proxy.is_empty()))
}

/// Suffixes of names that no public server has: RFC 6762 and its appendix G, 6761, 8375, 9476, and ICANN's `internal`.
const PRIVATE_ENDINGS: &[&str] = &[
    "alt",
    "corp",
    "home",
    "home.arpa",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
    "test",
];

/// Whether a name has no dot, a private suffix, or spells a private IPv4 address.
fn is_private_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let ends =
        |ending: &&str| name.strip_suffix(*ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    !name.contains('.') || PRIVATE_ENDINGS.iter().any(ends) || spells_private_v4(&name)
}

/// Whether four numbers of a name, separated by dots or hyphens, are a private IPv4 address, as in `10.0.0.1.nip.io`.
fn spells_private_v4(name: &str) -> bool {
    let parts: Vec<Option<u8>> = name.split(['.', '-']).map(|part| part.parse().ok()).collect();
    parts.windows(4).any(|four| match four {
        [Some(a), Some(b), Some(c), Some(d)] => !is_public_v4(Ipv4Addr::new(*a, *b, *c, *d)),
        _ => false,
    })
}

/// Whether an address is public.
fn is_public_address(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, ..] = ip.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let benchmark = a == 198 && (b == 18 || b == 19);
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_documentation()
        || ip.is_multicast()
        || shared
        || benchmark
        || a == 0
        || a >= 240)
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let parts = ip.segments();
    let [first, second, .., a, b] = parts;
    let last_v4 = Ipv4Addr::from(u32::from(a) << 16 | u32::from(b));
    // An IPv4 address through a translator: 64:ff9b::/96. The prefix 64:ff9b:1::/48 is for use within a network.
    if parts.starts_with(&[0x64, 0xff9b, 0, 0, 0, 0]) {
        return is_public_v4(last_v4);
    }
    // ISATAP: the last half is 0:5efe or 200:5efe and an IPv4 address.
    if parts[4] & !0x0200 == 0 && parts[5] == 0x5efe && !is_public_v4(last_v4) {
        return false;
    }
    // Global unicast is 2000::/3, except 6to4, Teredo and other assignments of 2001::/23, and documentation.
    let is_assigned = first == 0x2001 && second < 0x0200;
    let is_documentation = first == 0x2001 && second == 0x0db8 || first == 0x3fff && second < 0x1000;
    first & 0xe000 == 0x2000 && first != 0x2002 && !is_assigned && !is_documentation
}

/// Resolves names to public addresses only.
pub struct PublicResolver;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = crate::client::addresses(&name).await?;
            let public: Vec<SocketAddr> = found.filter(|found| is_public_address(found.ip())).collect();
            match public.is_empty() {
                true => Err("it has no public address".into()),
                false => Ok(Box::new(public.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known() {
        for (address, public) in [
            ("8.8.8.8", true),
            ("192.168.1.1", false),
            ("172.16.0.1", false),
            ("100.64.0.1", false),
            ("0.0.0.0", false),
            ("224.0.0.1", false),
            ("2606:4700::1111", true),
            ("::1", false),
            ("fe80::1", false),
            ("fd12::1", false),
            ("64:ff9b::a00:1", false),
            ("64:ff9b::808:808", true),
            ("2002:a00:1::", false),
            ("64:ff9b:1::808:808", false),
            ("64:ff9b:0:1::808:808", false),
            // Teredo: the client's IPv4 address in its last bits, inverted, and the server's.
            ("2001:0:a00:1:8000:f227:f5ff:fffe", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("3fff::1", false),
            ("2001:4860:4860::8888", true),
            ("2001:200::1", true),
            // ISATAP.
            ("2606:4700::5efe:10.0.0.1", false),
            ("2606:4700::200:5efe:192.168.0.1", false),
            ("2606:4700::5efe:8.8.8.8", true),
            ("::10.0.0.1", false),
            ("::ffff:0:10.0.0.1", false),
            ("::ffff:8.8.8.8", true),
        ] {
            assert_eq!(is_public_address(address.parse().unwrap()), public, "{address}");
        }
    }

    #[test]
    fn behind_a_proxy_private_names_are_known_by_their_words() {
        for (name, public) in [
            ("example.org", true),
            ("a.b.example.com", true),
            ("intranet", false),
            ("metadata.google.internal", false),
            ("METADATA.GOOGLE.INTERNAL.", false),
            ("printer.local", false),
            ("router.lan", false),
            ("nas.home.arpa", false),
            ("x.localhost", false),
            ("locals.example", true),
            ("notlocal", false),
            ("my-local.org", true),
            ("10.0.0.1.nip.io", false),
            ("app-192-168-1-1.example.io", false),
            ("169.254.169.254.sslip.io", false),
            ("8.8.8.8.nip.io", true),
            ("v1.2.3.example.org", true),
        ] {
            let host = Host::Domain(name);
            assert_eq!(is_public(&host, true), public, "{name}");
            // Without a proxy the resolver checks the addresses.
            assert!(is_public(&host, false), "{name}");
        }
        for (literal, public) in [("10.0.0.1", false), ("8.8.8.8", true)] {
            let host = Host::Ipv4(literal.parse().unwrap());
            assert!(
                [true, false].iter().all(|has_proxy| is_public(&host, *has_proxy) == public),
                "{literal}"
            );
        }
    }
}
