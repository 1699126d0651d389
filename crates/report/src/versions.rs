//! The output of `fetch --list`: the known versions of systems. `docs/trials-json.md` documents its
//! shape.

use dbms::ListedVersion;
use serde::{Deserialize, Serialize};

use crate::output::number::{UNKNOWN, or_unknown, tenths};
use crate::output::sheet::{Printable, Sheet};
use crate::output::table::{Section, Table, texts};

/// Version of the shape; it grows when a key is removed or changes its meaning.
const FORMAT: u32 = 1;

/// The known versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionsDocument {
    /// Version of this shape: 1.
    pub format: u32,
    /// By system, then from the oldest to the newest.
    pub versions: Vec<VersionDocument>,
}

/// A version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionDocument {
    /// The system, such as `postgres`.
    pub system: String,
    /// Its version, such as `13.7`.
    pub version: String,
    /// Its source, such as `git 86a4dc1e6f29`; `null` for a version that is fetched.
    pub built_from: Option<String>,
    /// Size of its files in the cache; `null` if it is not there.
    pub cached_bytes: Option<u64>,
    /// True if steelyard knows the digest of its file for this processor.
    pub pinned: bool,
    /// True if a registry offers it now; `null` if none was asked.
    pub offered: Option<bool>,
}

/// Lays out known versions.
pub fn versions(listed: Vec<ListedVersion>) -> Printable<VersionsDocument> {
    let document = |it: ListedVersion| VersionDocument {
        system: it.system,
        version: it.version,
        built_from: it.built_from,
        cached_bytes: it.cached_bytes,
        pinned: it.pinned,
        offered: it.offered,
    };
    let versions: Vec<VersionDocument> = listed.into_iter().map(document).collect();
    let mut sheet = Sheet::default();
    sheet.table(table(&versions));
    Printable { document: VersionsDocument { format: FORMAT, versions }, sheet }
}

fn table(versions: &[VersionDocument]) -> Table {
    let place = |it: &VersionDocument| {
        let places = [(it.cached_bytes.is_some(), "cached"), (it.offered == Some(true), "offered")];
        let there: Vec<&str> = places.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
        if there.is_empty() { UNKNOWN.to_owned() } else { there.join(", ") }
    };
    Table::new(Section::Other, "versions", "Known versions")
        .explained([
            "place: cached on this machine; with --online also offered by a package registry",
            "digest: pinned if steelyard knows that of the file for this processor",
        ])
        .listing(
            versions,
            &[
                ("version", &|it| name(it)),
                ("place", &|it| place(it)),
                ("MB", &|it| or_unknown(it.cached_bytes.map(|it| it as f64 / 1e6), tenths)),
                ("digest", &|it| if it.pinned { "pinned" } else { UNKNOWN }.to_owned()),
            ],
        )
        .without_empty_columns(&texts(["place"]))
}

/// A release as references name it, or a build.
fn name(version: &VersionDocument) -> String {
    let VersionDocument { system, version, built_from, .. } = version;
    match built_from {
        Some(from) => format!("{system} {version} ({from})"),
        None => format!("{system}@{version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn known_versions_are_a_table_in_every_format() {
        let listed = |version: &str, cached_bytes, pinned, offered| ListedVersion {
            system: "postgres".to_owned(),
            version: version.to_owned(),
            built_from: None,
            cached_bytes,
            pinned,
            offered,
        };
        let offline = versions(vec![
            listed("13.7", Some(41_260_000), true, None),
            listed("14.3", None, true, None),
        ]);
        let text = offline.render(Format::Text).unwrap();
        let rows = "version        place     MB  digest\n\
            postgres@13.7  cached  41.3  pinned\n\
            postgres@14.3  –          –  pinned\n";
        assert!(text.contains(rows), "{text}");
        let built = ListedVersion {
            built_from: Some("git 0123456789ab".to_owned()),
            ..listed("17devel", Some(1), false, None)
        };
        let online = versions(vec![listed("13.7", Some(1_000_000), true, Some(true)), built]);
        let csv = online.render(Format::Csv).unwrap();
        for part in ["cached, offered", "postgres 17devel (git 0123456789ab)"] {
            assert!(csv.contains(part), "{csv}");
        }
        let json = online.render(Format::Json).unwrap();
        let read: VersionsDocument = serde_json::from_str(&json).unwrap();
        assert_eq!(read, online.document);
        assert!(online.render(Format::Markdown).unwrap().contains("| postgres@13.7 |"));
    }
}
