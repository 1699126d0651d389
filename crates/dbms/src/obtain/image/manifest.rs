//! The manifests of images: OCI image specification 1.1, and Docker's, which have the same keys.

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::data::hash;

/// A part of an image.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Descriptor {
    /// `sha256:` and hexadecimal digits.
    pub(super) digest: String,
    /// In bytes.
    pub(super) size: u64,
    platform: Option<Platform>,
    /// True for the manifest of an image in an index.
    #[serde(skip)]
    pub(super) is_manifest: bool,
}

impl Descriptor {
    /// The same, as the manifest of an image.
    pub(super) fn of_manifest(&self) -> Self {
        Self { is_manifest: true, ..self.clone() }
    }

    /// The hexadecimal digits of the digest, which are safe in a path.
    pub(super) fn hex(&self) -> Result<&str, String> {
        let hex =
            self.digest.strip_prefix("sha256:").filter(|_| reference::is_digest(&self.digest));
        hex.ok_or_else(|| format!("expected a digest with sha256, found {:?}", self.digest))
    }
}

/// The machines that an image is for.
#[derive(Clone, Debug, Deserialize)]
struct Platform {
    os: String,
    architecture: String,
}

/// A manifest, or an index of several.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    /// The manifests of an index.
    pub(super) manifests: Option<Vec<Descriptor>>,
    /// The configuration of an image.
    pub(super) config: Option<Descriptor>,
    /// The layers of an image, from the lowest.
    pub(super) layers: Option<Vec<Descriptor>>,
}

impl Document {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|error| format!("its manifest is damaged ({error})"))
    }
}

/// The parts of an image's configuration that matter here.
#[derive(Deserialize)]
struct Config {
    os: Option<String>,
    architecture: Option<String>,
    rootfs: Layers,
}

#[derive(Deserialize)]
struct Layers {
    diff_ids: Vec<String>,
}

/// This machine as images name it.
fn here() -> Platform {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    Platform { os: "linux".to_owned(), architecture: architecture.to_owned() }
}

/// The manifest of an index for this machine. Docker adds others of an unknown machine that hold no
/// image.
pub(super) fn for_this_machine(manifests: &[Descriptor]) -> Result<&Descriptor, String> {
    let here = here();
    if let [only] = manifests
        && only.platform.is_none()
    {
        return Ok(only);
    }
    let platforms = || manifests.iter().filter_map(|found| found.platform.as_ref());
    let fits = |found: &Platform| found.os == here.os && found.architecture == here.architecture;
    let fitting = manifests.iter().find(|found| found.platform.as_ref().is_some_and(fits));
    fitting.ok_or_else(|| {
        if platforms().next().is_none() {
            return format!("expected one image, found {}", manifests.len());
        }
        let mut all: Vec<String> =
            platforms().map(|it| format!("{}/{}", it.os, it.architecture)).collect();
        all.retain(|name| name != "unknown/unknown");
        all.dedup();
        format!("it is for {}, not for {}/{}", all.join(", "), here.os, here.architecture)
    })
}

/// The digests of the unpacked layers, from the configuration of an image for this machine.
pub(super) fn unpacked_digests(config: &[u8]) -> Result<Vec<String>, String> {
    let config: Config = serde_json::from_slice(config)
        .map_err(|error| format!("its configuration is damaged ({error})"))?;
    let here = here();
    let (os, architecture) = (config.os, config.architecture);
    let differs =
        |found: &Option<String>, expected| found.as_ref().is_some_and(|it| it != expected);
    if differs(&os, &here.os) || differs(&architecture, &here.architecture) {
        let [os, architecture] = [os, architecture].map(|it| it.unwrap_or("?".to_owned()));
        return Err(format!(
            "it is for {os}/{architecture}, not for {}/{}",
            here.os, here.architecture
        ));
    }
    Ok(config.rootfs.diff_ids)
}

/// The digest of these bytes.
pub(super) fn digest_of(bytes: &[u8]) -> String {
    format!("sha256:{}", hash::of(bytes))
}

/// A digest as images write it.
pub(super) fn digest(hash: Sha256) -> String {
    format!("sha256:{}", hash::hex(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_for_this_machine_is_chosen() {
        let of = |os: &str, architecture: &str| {
            let digest = format!("sha256:{os}-{architecture}");
            let platform = Platform { os: os.to_owned(), architecture: architecture.to_owned() };
            Descriptor { digest, size: 0, platform: Some(platform), is_manifest: false }
        };
        let Platform { os, architecture } = here();
        let all = [of("unknown", "unknown"), of("linux", "s390x"), of(&os, &architecture)];
        let chosen = for_this_machine(&all).unwrap();
        assert_eq!(chosen.digest, format!("sha256:{os}-{architecture}"));
        let error = for_this_machine(&all[..2]).unwrap_err();
        assert!(error.starts_with("it is for linux/s390x, not for linux/"), "{error}");
        let alone = [Descriptor { platform: None, ..of("", "") }];
        assert_eq!(for_this_machine(&alone).unwrap().digest, "sha256:-");
        assert!(alone[0].hex().unwrap_err().contains("sha256:-"));
        let config = r#"{"os":"linux","architecture":"s390x","rootfs":{"diff_ids":[]}}"#;
        assert!(unpacked_digests(config.as_bytes()).unwrap_err().contains("linux/s390x"));
        assert!(unpacked_digests(b"{}").unwrap_err().contains("damaged"));
        assert!(Document::read(b"[").unwrap_err().contains("damaged"));
    }

    #[test]
    fn digests_are_as_sha256sum_prints_them() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest_of(b""), empty);
    }
}
