//! What kind of place an IP address is.
//!
//! IPv4 by the IANA special-purpose registry (RFC 6890 and its updates). IPv6 the other way round:
//! only global unicast (2000::/3) can be public, with its own exceptions, so that what IANA has not
//! assigned yet is refused rather than missed.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// Why an address is not a public one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// This machine: 127.0.0.0/8, ::1.
    Loopback,
    /// A private network: RFC 1918, unique local fc00::/7, site local fec0::/10.
    Private,
    /// A provider's shared address space, 100.64.0.0/10 (RFC 6598).
    Shared,
    /// The local link: 169.254.0.0/16, fe80::/10.
    LinkLocal,
    /// A cloud's metadata or control service, wherever its address lies.
    Metadata,
    /// 0.0.0.0/8 and ::, which many systems connect to themselves.
    Unspecified,
    /// Multicast and broadcast.
    Multicast,
    /// Documentation, benchmarking, future use, unassigned.
    Reserved,
    /// A tunnel that hides another address: 6to4, Teredo, local NAT64.
    Tunnel,
}

impl Place {
    /// Whether a host name in a contract is enough to admit it.
    ///
    /// A name is its owner's to point elsewhere. Loopback and private networks are where services
    /// named by a contract really are; nobody's service is at a metadata or multicast address, so
    /// there the contract has to name the address itself.
    pub(crate) fn may_be_named_by_host(self) -> bool {
        matches!(self, Self::Loopback | Self::Private | Self::Shared)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "this machine",
            Self::Private => "a private network",
            Self::Shared => "a provider's internal network",
            Self::LinkLocal => "the local link",
            Self::Metadata => "a cloud metadata service",
            Self::Unspecified => "no particular address",
            Self::Multicast => "a multicast address",
            Self::Reserved => "a reserved address",
            Self::Tunnel => "a tunnel address",
        })
    }
}

/// The metadata and control services of the large clouds. Most lie in ranges that are refused
/// anyway; Azure's is in public space.
const METADATA_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::new(169, 254, 169, 254), // AWS, Azure, Google Cloud, Oracle and others
    Ipv4Addr::new(169, 254, 170, 2),   // AWS ECS task credentials
    Ipv4Addr::new(100, 100, 100, 200), // Alibaba Cloud
    Ipv4Addr::new(168, 63, 129, 16),   // Azure wire server
];
/// AWS over IPv6.
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Network, prefix length, place. The first that matches decides.
const V4: [(Ipv4Addr, u32, Place); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, Place::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Place::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Place::Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Place::Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Place::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Place::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Place::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Place::Reserved),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Place::Tunnel),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Place::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Place::Reserved),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Place::Reserved),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Place::Reserved),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Place::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Place::Reserved),
];

const V6: [(Ipv6Addr, u32, Place); 12] = [
    (Ipv6Addr::UNSPECIFIED, 128, Place::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Place::Loopback),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, Place::Tunnel), // RFC 8215
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, Place::Tunnel),    // Teredo, RFC 4380
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Place::Reserved),  // IETF protocols, ORCHID
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Place::Reserved),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Place::Tunnel), // 6to4, RFC 3056
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Place::Reserved), // RFC 9637
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Place::Private),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, Place::LinkLocal),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, Place::Private),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, Place::Multicast),
];

/// The kind of place, or nothing for a public address.
pub fn place(address: IpAddr) -> Option<Place> {
    match canonical(address) {
        IpAddr::V4(v4) if METADATA_V4.contains(&v4) => Some(Place::Metadata),
        IpAddr::V4(Ipv4Addr::BROADCAST) => Some(Place::Multicast),
        IpAddr::V4(v4) => V4
            .iter()
            .find(|(network, length, _)| {
                in_network(v4.to_bits().into(), network.to_bits().into(), *length, 32)
            })
            .map(|row| row.2),
        IpAddr::V6(METADATA_V6) => Some(Place::Metadata),
        IpAddr::V6(v6) => V6
            .iter()
            .find(|(network, length, _)| in_network(v6.to_bits(), network.to_bits(), *length, 128))
            .map(|row| row.2)
            .or_else(|| (v6.segments()[0] & 0xe000 != 0x2000).then_some(Place::Reserved)),
    }
}

/// The address that is really reached: an IPv4 address in IPv6 clothes is judged as what it is.
///
/// Mapped (`::ffff:a.b.c.d`), compatible (`::a.b.c.d`) and the well-known NAT64 prefix
/// (`64:ff9b::a.b.c.d`, RFC 6052), which is how every IPv4 service looks on an IPv6-only network.
pub(crate) fn canonical(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let segments = v6.segments();
    let embeds = match &segments[..6] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => true,
        [0, 0, 0, 0, 0, 0] => !(v6.is_loopback() || v6.is_unspecified()),
        _ => false,
    };
    if embeds { IpAddr::V4(Ipv4Addr::from_bits(v6.to_bits() as u32)) } else { address }
}

/// Whether two addresses of `width` bits agree in their first `length` bits.
pub(crate) fn in_network(address: u128, network: u128, length: u32, width: u32) -> bool {
    (address ^ network).checked_shr(width.saturating_sub(length)).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        use Place::*;
        let rows: [(&str, Option<Place>); 46] = [
            ("93.184.216.34", None),
            ("1.1.1.1", None),
            ("172.15.255.255", None),
            ("172.32.0.0", None),
            ("100.63.255.255", None),
            ("100.128.0.0", None),
            ("198.17.255.255", None),
            ("223.255.255.255", None),
            ("127.0.0.1", Some(Loopback)),
            ("127.255.255.255", Some(Loopback)),
            ("0.0.0.0", Some(Unspecified)),
            ("0.1.2.3", Some(Unspecified)),
            ("10.0.0.5", Some(Private)),
            ("172.16.0.1", Some(Private)),
            ("172.31.255.255", Some(Private)),
            ("192.168.1.1", Some(Private)),
            ("100.64.0.1", Some(Shared)),
            ("100.127.255.255", Some(Shared)),
            ("169.254.1.1", Some(LinkLocal)),
            ("169.254.169.254", Some(Metadata)),
            ("100.100.100.200", Some(Metadata)),
            ("168.63.129.16", Some(Metadata)),
            ("192.0.0.192", Some(Reserved)),
            ("192.0.2.1", Some(Reserved)),
            ("198.19.0.1", Some(Reserved)),
            ("224.0.0.1", Some(Multicast)),
            ("239.255.255.250", Some(Multicast)),
            ("240.0.0.1", Some(Reserved)),
            ("255.255.255.255", Some(Multicast)),
            ("2606:4700:4700::1111", None),
            ("64:ff9b::5db8:d822", None),
            ("::ffff:93.184.216.34", None),
            ("::", Some(Unspecified)),
            ("::1", Some(Loopback)),
            ("::ffff:127.0.0.1", Some(Loopback)),
            ("::127.0.0.1", Some(Loopback)),
            ("::ffff:169.254.169.254", Some(Metadata)),
            ("64:ff9b::10.0.0.1", Some(Private)),
            ("64:ff9b:1::1", Some(Tunnel)),
            ("2001::1", Some(Tunnel)),
            ("2002:7f00:1::", Some(Tunnel)),
            ("fd00:ec2::254", Some(Metadata)),
            ("fc00::1", Some(Private)),
            ("fe80::1", Some(LinkLocal)),
            ("ff02::1", Some(Multicast)),
            ("4000::1", Some(Reserved)),
        ];
        for (address, expected) in rows {
            assert_eq!(place(address.parse().unwrap()), expected, "{address}");
        }
    }
}
