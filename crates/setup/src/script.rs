//! The script for a server, with its settings filled in, and the cloud-init file around it.

use crate::check::quote;
use crate::request::{Cloud, Filesystem, IMAGE_USER, Request};

/// It runs as it is, with the settings of [`Request::default`].
const TEMPLATE: &str = include_str!("setup.sh");

/// Where a cloud instance keeps the script.
const INSTALLED: &str = "/usr/local/sbin/steelyard-setup";

/// The script.
pub(crate) fn script(request: &Request) -> String {
    let yes = |set: bool| if set { "yes" } else { "" }.to_owned();
    let filesystem = match request.filesystem {
        Filesystem::Xfs => "xfs",
        Filesystem::Ext4 => "ext4",
    };
    let mut settings = vec![
        ("OWNER", request.user.clone().unwrap_or_default()),
        ("DATA_DIR", request.data_dir.clone()),
        ("DEVICE", request.device.clone().unwrap_or_else(|| "none".to_owned())),
        ("FILESYSTEM", filesystem.to_owned()),
        ("NOFILE", request.nofile.to_string()),
        ("NO_BOOST", yes(request.no_boost)),
        ("NO_SMT", yes(request.no_smt)),
        ("NO_DEEP_IDLE", yes(request.no_deep_idle)),
    ];
    if !request.packages.is_empty() {
        let more = request.packages.join(" ");
        settings.push(("PACKAGES", format!("{}\n{more}", setting(TEMPLATE, "PACKAGES"))));
    }
    let mut text = TEMPLATE.to_owned();
    for (name, value) in settings {
        let before = format!("\n{name}={}\n", quote(setting(TEMPLATE, name)));
        text = text.replacen(&before, &format!("\n{name}={}\n", quote(&value)), 1);
    }
    text
}

/// The value of a setting in the template, which has each as `NAME='VALUE'`.
fn setting<'a>(template: &'a str, name: &str) -> &'a str {
    let after = template.split_once(&format!("\n{name}='")).map_or("", |(_, after)| after);
    after.split_once("'\n").map_or("", |(value, _)| value)
}

/// The cloud-init file.
pub(crate) fn cloud_init(request: &Request) -> String {
    let mut text = String::from(
        "#cloud-config\n\
         # Makes a new server fit to measure databases on. Written by `steelyard setup`.\n\
         # On the server: `cloud-init status --wait` returns when it is done, and what it did is in\n\
         # /var/log/cloud-init-output.log.\n",
    );
    let there = |user: &str| user == "root" || (request.cloud != Cloud::None && user == IMAGE_USER);
    if let Some(user) = request.user.as_deref().filter(|user| !there(user)) {
        text.push_str(&format!(
            "users:\n  - default\n  - name: \"{user}\"\n    shell: /bin/bash\n    lock_passwd: true\n    \
             sudo: \"ALL=(ALL) NOPASSWD:ALL\"\n"
        ));
    }
    text.push_str(&format!(
        "write_files:\n  - path: {INSTALLED}\n    owner: root:root\n    permissions: \"0755\"\n    \
         content: |\n"
    ));
    for line in script(request).lines() {
        // The indentation is not part of the script.
        let indent = if line.is_empty() { "" } else { "      " };
        text.push_str(&format!("{indent}{line}\n"));
    }
    text.push_str(&format!(
        "runcmd:\n  - [{INSTALLED}, --upgrade]\n\
         # At the end, in case a new kernel came.\n\
         power_state:\n  mode: reboot\n  condition: test -e /run/reboot-required\n"
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_the_default_settings() {
        let request = crate::Setup::new(Request::default()).unwrap();
        assert_eq!(request.script(), TEMPLATE);
    }

    #[test]
    fn settings_are_filled_in_once() {
        let request = Request {
            user: Some("mark".to_owned()),
            data_dir: "/srv/db".to_owned(),
            device: Some("/dev/disk/by-id/nvme-x*".to_owned()),
            filesystem: Filesystem::Ext4,
            nofile: 100_000,
            no_boost: true,
            packages: vec!["zsh".to_owned()],
            ..Request::default()
        };
        let text = script(&request);
        for line in [
            "OWNER='mark'",
            "DATA_DIR='/srv/db'",
            "DEVICE='/dev/disk/by-id/nvme-x*'",
            "FILESYSTEM='ext4'",
            "NOFILE='100000'",
            "NO_BOOST='yes'",
            "NO_SMT=''",
            "zsh'",
        ] {
            assert_eq!(text.lines().filter(|it| *it == line).count(), 1, "{line}");
        }
        assert!(setting(&text, "PACKAGES").contains("fio"));
    }

    #[test]
    fn cloud_init_carries_the_same_script() {
        let request = Request { user: Some("mark".to_owned()), ..Request::default() };
        let text = cloud_init(&request);
        let carried = text.split_once("content: |\n").unwrap().1.split_once("runcmd:").unwrap().0;
        let lines = carried.lines().map(|line| line.strip_prefix("      ").unwrap_or(line));
        let carried: String = lines.map(|line| format!("{line}\n")).collect();
        assert_eq!(carried, script(&request));
    }
}
