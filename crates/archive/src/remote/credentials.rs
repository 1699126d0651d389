//! Credentials for S3: from the environment, from the files that the AWS command line uses, or from
//! the machine.
//!
//! `object_store` reads the environment (`AWS_ACCESS_KEY_ID`, web identities, containers) and asks
//! the machine's metadata service. This module adds the files: `~/.aws/credentials` and
//! `~/.aws/config`, with the profile `AWS_PROFILE`. It reads the keys, the region and the endpoint
//! of a profile; roles and single sign-on are not supported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use crate::Error;

/// Options of a profile, and which option of `object_store` each sets.
const KEYS: [(&str, AmazonS3ConfigKey); 5] = [
    ("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId),
    ("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey),
    ("aws_session_token", AmazonS3ConfigKey::Token),
    ("region", AmazonS3ConfigKey::Region),
    ("endpoint_url", AmazonS3ConfigKey::Endpoint),
];

/// Variables that say by themselves where credentials come from.
const SOURCES: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
];

/// The builder for a bucket, with everything that the environment and the files say.
pub(super) fn s3(bucket: &str) -> Result<AmazonS3Builder, Error> {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    let given = SOURCES.iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
    let profile = profile();
    for (name, key) in KEYS {
        let secret = name.starts_with("aws_");
        // The environment comes first; keys from there and from a file are never mixed.
        let unset = if secret { !given } else { builder.get_config_value(&key).is_none() };
        if let Some(value) = profile.get(name).filter(|_| unset) {
            builder = builder.with_config(key, value);
        }
    }
    if !given && !profile.contains_key("aws_access_key_id") && !on_ec2() {
        return Err(Error::NoCredentials(
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or choose a profile of ~/.aws/credentials with AWS_PROFILE".to_owned(),
        ));
    }
    Ok(builder)
}

/// True if this machine has Amazon's metadata service.
fn on_ec2() -> bool {
    let vendor = fs::read_to_string("/sys/class/dmi/id/sys_vendor").unwrap_or_default();
    vendor.contains("Amazon")
}

/// The options of the chosen profile; those in the file of credentials come first.
fn profile() -> BTreeMap<String, String> {
    let name = env::var("AWS_PROFILE").unwrap_or_else(|_| "default".to_owned());
    let file = |variable: &str, usual: &str| {
        let given = env::var_os(variable).map(PathBuf::from);
        given.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".aws").join(usual)))
    };
    let read = |path: Option<PathBuf>| fs::read_to_string(path?).ok();
    let config = read(file("AWS_CONFIG_FILE", "config")).unwrap_or_default();
    let credentials = read(file("AWS_SHARED_CREDENTIALS_FILE", "credentials")).unwrap_or_default();
    let mut options = section(&config, &format!("profile {name}"));
    options.extend(section(&config, &name));
    options.extend(section(&credentials, &name));
    options
}

/// The options in `[name]` of an INI file.
fn section(text: &str, name: &str) -> BTreeMap<String, String> {
    let mut inside = false;
    let mut options = BTreeMap::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(header) = trimmed.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            inside = header.split_whitespace().eq(name.split_whitespace());
        } else if inside
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((key, value)) = trimmed.split_once('=')
        {
            options.insert(key.trim().to_lowercase(), value.trim().to_owned());
        }
    }
    options
}

/// Removes secrets of the environment and of the files from a text. This is a second line of
/// defense, because texts should have no secrets in the first place.
pub(super) fn without_secrets(text: &str) -> String {
    let named = |name: &str| {
        ["SECRET", "TOKEN", "PASSWORD", "_KEY", "SIGNATURE"].iter().any(|word| name.contains(word))
    };
    let from_env = env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|name| named(name));
        name.and_then(|_| value.into_string().ok())
    });
    let from_profile = profile().into_iter().filter(|(name, _)| named(&name.to_uppercase()));
    let secrets = from_env.chain(from_profile.map(|(_, value)| value));
    let mut text = text.to_owned();
    // Short values are not secrets, and hiding them would tear words apart.
    for secret in secrets.filter(|secret| secret.len() >= 8) {
        text = text.replace(&secret, "…");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read() {
        let text = "[default]\naws_access_key_id = A\n# region = x\n[profile  dev]\nRegion=eu-1\n\
                    s3 =\n  endpoint_url = nested\nendpoint_url = http://h:1 \n[other]\nregion = no\n";
        let dev = section(text, "profile dev");
        assert_eq!(dev.get("region").unwrap(), "eu-1");
        assert_eq!(dev.get("endpoint_url").unwrap(), "http://h:1");
        assert_eq!(section(text, "default").len(), 1);
        assert!(section(text, "none").is_empty());
    }
}
