//! Notes on experiments.

use crate::common::begin;
use store::{Note, NoteKind, Store, Warning};

fn note(kind: NoteKind, step: Option<&str>, at_ms: i64) -> Note {
    Note {
        step: step.map(str::to_owned),
        dop: None,
        variant: Some("a".to_owned()),
        kind,
        text: "because".to_owned(),
        by: "eve".to_owned(),
        at_ms,
    }
}

#[test]
fn the_last_note_about_something_holds() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (experiment, _) = begin(&store);
    let kinds = |store: &Store| -> Vec<NoteKind> {
        store.notes(experiment).unwrap().iter().map(|note| note.kind).collect()
    };
    store.note(experiment, &note(NoteKind::Bug, Some("l.i0"), 2)).unwrap();
    store.note(experiment, &note(NoteKind::Noise, None, 3)).unwrap();
    // Written later, about an earlier moment, as when it comes from elsewhere.
    store.note(experiment, &note(NoteKind::Expected, Some("l.i0"), 1)).unwrap();
    assert_eq!(kinds(&store), [NoteKind::Noise, NoteKind::Bug]);
    store.note(experiment, &note(NoteKind::Withdrawn, None, 4)).unwrap();
    assert_eq!(kinds(&store), [NoteKind::Bug]);
    assert_eq!(store.all_notes(experiment).unwrap().len(), 4);
}

#[test]
fn notes_go_with_an_experiment_and_leave_it_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("one")).unwrap();
    let (experiment, _) = begin(&store);
    let (plain, marks) = (store.content_hash(experiment).unwrap(), store.marks().unwrap());
    store.note(experiment, &note(NoteKind::Bug, Some("l.i0"), 1)).unwrap();
    assert_eq!(store.content_hash(experiment).unwrap(), plain);
    assert_ne!(store.marks().unwrap(), marks, "pages show them");
    let other = Store::open(&folder.path().join("other")).unwrap();
    let copy = store.copy_experiment(experiment, &other, None).unwrap().experiment.1;
    assert_eq!(other.notes(copy).unwrap(), store.notes(experiment).unwrap());
    assert_eq!(other.content_hash(copy).unwrap(), plain);
    other.note(copy, &note(NoteKind::Fixed, None, 2)).unwrap();
    assert_eq!(store.merge_notes(experiment, &other, copy).unwrap(), 1);
    assert_eq!(store.merge_notes(experiment, &other, copy).unwrap(), 0);
    assert_eq!(store.notes(experiment).unwrap(), other.notes(copy).unwrap());
    assert_eq!(store.note_marks(experiment).unwrap(), other.note_marks(copy).unwrap());
    assert_eq!(store.note_marks(experiment).unwrap().len(), 2);
    // A warning is a part of the results.
    let warning = Warning { code: "steal".to_owned(), text: "x".to_owned() };
    store.warn(experiment, None, &warning).unwrap();
    assert_ne!(store.content_hash(experiment).unwrap(), plain);
}
