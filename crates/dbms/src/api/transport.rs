//! Ways to reach a server.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the requests of clients get to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Transport {
    /// A unix socket, which every server has.
    #[serde(rename = "unix")]
    Unix,
    /// TCP on 127.0.0.1.
    #[serde(rename = "tcp")]
    Loopback,
    /// TCP through a pair of virtual interfaces (veth(4)). The server is in a network namespace of
    /// its own. Unlike on loopback, requests go through the network layers for an interface.
    #[serde(rename = "veth")]
    Veth,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Unix, Self::Loopback, Self::Veth];

    /// Its name in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unix => "unix",
            Self::Loopback => "tcp",
            Self::Veth => "veth",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_plans() {
        for transport in Transport::ALL {
            let json = serde_json::to_string(&transport).unwrap();
            assert_eq!(json, format!("\"{transport}\""));
            assert_eq!(serde_json::from_str::<Transport>(&json).unwrap(), transport);
        }
    }
}
