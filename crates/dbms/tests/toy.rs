//! A system outside this crate: it has to provide little, and is named, obtained and refused like
//! the others.

use std::path::Path;

use dbms::{Cache, Error, Installation, Kind, Origin, Reference, ServerSpec, ServerUser, Started};

#[derive(Debug)]
struct Toy;

impl Kind for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn describe(&self, root: &Path, _: &ServerUser) -> Result<Installation, Error> {
        Ok(Installation {
            dbms: "toy".to_owned(),
            version: "1.2.3".to_owned(),
            source: String::new(),
            bin_dir: Some(root.to_path_buf()),
            build: [].into(),
        })
    }

    fn start(&self, spec: &ServerSpec<'_>, _: Option<&Origin<'_>>) -> Result<Started, Error> {
        Err(self.lacks(&format!("starting {}", spec.name)))
    }
}

#[test]
fn a_system_can_be_added_from_outside() {
    dbms::register(&Toy);
    let place = crate::common::Place::new();
    let obtain = |text: &str| {
        let reference: Reference = text.parse().unwrap();
        dbms::obtain(&reference, &Cache::at(place.path().join("cache")).unwrap(), &|_| ())
    };
    let text = format!("toy@path:{}", place.path().display());
    assert_eq!(text.parse::<Reference>().unwrap().to_string(), text);
    let installation = obtain(&text).unwrap();
    assert_eq!((installation.dbms.as_str(), installation.major()), ("toy", Some(1)));
    // What it does not provide is reported.
    for text in ["toy@1.2.3", "toy@git:/src/toy#main"] {
        let error = obtain(text).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("(toy)"), "{error}");
    }
    let variant = crate::common::Variant { name: "a toy".to_owned(), installation };
    let error = dbms::start(place.spec(&variant, &place.trial())).err().unwrap();
    assert!(error.to_string().contains("starting a toy"), "{error}");
    // Others are unknown, and the error lists the known ones.
    let error = "nonsense@1".parse::<Reference>().unwrap_err().to_string();
    assert!(
        error.contains("postgres, mysql, mariadb, rocksdb, ") && error.contains(", toy"),
        "{error}"
    );
}
