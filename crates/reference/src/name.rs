//! Names for variants.

use std::path::Path;

use crate::systems::SYSTEMS;
use crate::{Form, Host, Image, Package, Reference, SourceTree};

/// A name for a variant: `postgres@13.7` → `pg13.7`, `path:/opt/pg-new` → `pg-new`,
/// `path:/usr/lib/postgresql/15` → `pg15`, `git:~/src/postgres#REL_14_3` → `pg-REL_14_3`,
/// `src:postgresql-15.8.tar.bz2` → `pg-postgresql-15.8`, `postgres://user:secret@db:5432/x` →
/// `pg-db`. It contains only parts that are not a password, and no part of an unreadable text.
pub fn variant_name(text: &str) -> String {
    let raw = text.parse().map(|reference| name(&reference)).unwrap_or_default();
    let fit = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let mut clean = String::new();
    for c in raw.chars().map(fit).take(60) {
        // Of what doesn't fit, such as the colons of `::1`, one `-` is left.
        if c != '-' || !clean.ends_with('-') {
            clean.push(c);
        }
    }
    match clean.trim_matches(['.', '-']) {
        "" => "variant".to_owned(),
        name => name.to_owned(),
    }
}

fn name(reference: &Reference) -> String {
    let system = reference.system.as_str();
    let short =
        SYSTEMS.iter().find(|known| known.name == system).map_or(system, |known| known.short);
    match &reference.form {
        Form::Alone => system.to_owned(),
        Form::Release(version) => format!("{short}{version}"),
        Form::Path(path) => {
            let name = last(path);
            let digit = name.starts_with(|c: char| c.is_ascii_digit());
            if digit { format!("{short}{name}") } else { name }
        }
        Form::Package(Package { name, version: None }) => name.clone(),
        Form::Package(Package { name, version: Some(version) }) => format!("{name}-{version}"),
        Form::Image(image) => match image {
            Image::Registry { tag: Some(tag), .. } => format!("{}-{tag}", image.short_name()),
            Image::Registry { digest: Some(digest), .. } => {
                format!("{}-{}", image.short_name(), &digest[digest.len() - 64..][..10])
            }
            _ => image.short_name(),
        },
        Form::Source(SourceTree::Git { revision, .. }) => {
            // A full commit is too long for a name.
            let digits = revision.len() >= 40 && revision.chars().all(|c| c.is_ascii_hexdigit());
            format!("{short}-{}", if digits { &revision[..10] } else { revision })
        }
        Form::Source(SourceTree::Tarball(path)) => {
            format!("{short}-{}", last(path).split(".tar").next().unwrap_or_default())
        }
        Form::Running(server) => match &server.host {
            Host::Socket(_) => format!("{short}-local"),
            Host::Tcp(host) => format!("{short}-{host}"),
        },
    }
}

fn last(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Names for several variants, all different: a repeated name gets a number, `pg13.7`,
/// `pg13.7-2`.
pub fn variant_names<S: AsRef<str>>(references: &[S]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for reference in references {
        let name = variant_name(reference.as_ref());
        let mut candidate = name.clone();
        let mut number = 2;
        while names.contains(&candidate) {
            candidate = format!("{name}-{number}");
            number += 1;
        }
        names.push(candidate);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (text, name) in [
            ("postgres@13.7", "pg13.7"),
            ("postgres@14", "pg14"),
            ("mysql@8.0.28", "my8.0.28"),
            ("mariadb@11.4", "ma11.4"),
            ("none", "none"),
            ("path:/usr/lib/postgresql/15", "pg15"),
            ("path:/opt/pg-new/", "pg-new"),
            ("mysql@path:/usr/sbin/mysqld", "mysqld"),
            ("device@path:/dev/nvme1n1", "nvme1n1"),
            ("postgres://me:secret@db.example:5432/x", "pg-db.example"),
            ("host=db.example user=me password=secret", "pg-db.example"),
            ("postgresql://me@/x?host=/run", "pg-local"),
            ("postgres://me@[::1]:5432/x", "pg-1"),
            ("mysql://u@127.0.0.1:1/x", "my-127.0.0.1"),
            ("mysql://me:s3cret@host/d", "my-host"),
            ("mysql://me:p#w@h/d", "my-h"),
            ("mariadb://me@/d?socket=/run/s", "ma-local"),
            ("mysql://me:s3@cret@host/d", "variant"),
            ("postgres://db:5432/x?user=me&password=p@s3cret", "variant"),
            ("path:/", "variant"),
            ("postgres@path:/opt/pg-new", "pg-new"),
            ("postgres@git:~/src/postgres#REL_14_3", "pg-REL_14_3"),
            ("git:https://example.org/pg#origin/master", "pg-origin-master"),
            ("git:/srv/pg#0123456789abcdef0123456789abcdef01234567", "pg-0123456789"),
            ("git:/srv/pg", "pg-HEAD"),
            ("src:/tmp/postgresql-15.8.tar.bz2", "pg-postgresql-15.8"),
            ("deb:postgresql-17", "postgresql-17"),
            ("image:ghcr.io/team/postgres:17.2", "postgres-17.2"),
            ("image:/images/postgres-17.tar", "postgres-17"),
            ("deb:postgresql-15=15.8-0+deb12u1", "postgresql-15-15.8-0-deb12u1"),
        ] {
            assert_eq!(variant_name(text), name, "{text}");
        }
        assert_eq!(
            variant_names(&["postgres@13.7", "postgres@13.7", "postgres@14.3", "postgres@13.7"]),
            ["pg13.7", "pg13.7-2", "pg14.3", "pg13.7-3"]
        );
    }
}
