//! Documents that were made lately.

use axum::body::Bytes;

/// Bytes of documents that are kept, at most.
const MOST: usize = 24 << 20;
/// A larger document is made anew each time.
const LARGEST: usize = 4 << 20;

/// Documents by the marks of their contents; those not used for longest go first.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The one used last is at the end.
    documents: Vec<(String, Bytes)>,
    bytes: usize,
}

impl Cache {
    /// The document with this mark.
    pub(crate) fn get(&mut self, mark: &str) -> Option<Bytes> {
        let place = self.documents.iter().position(|(known, _)| known == mark)?;
        let found = self.documents.remove(place);
        self.documents.push(found.clone());
        Some(found.1)
    }

    /// Keeps a document.
    pub(crate) fn add(&mut self, mark: &str, document: &Bytes) {
        if document.len() > LARGEST {
            return;
        }
        self.bytes += document.len();
        self.documents.push((mark.to_owned(), document.clone()));
        while self.bytes > MOST {
            self.bytes -= self.documents.remove(0).1.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut cache = Cache::default();
        let document = Bytes::from(vec![0; LARGEST]);
        for mark in ["a", "b", "c", "d", "e", "f"] {
            cache.add(mark, &document);
        }
        assert!(cache.get("a").is_some());
        cache.add("g", &document);
        assert!(cache.get("a").is_some() && cache.get("b").is_none() && cache.get("c").is_some());
        assert!(cache.bytes <= MOST);
        cache.add("large", &Bytes::from(vec![0; LARGEST + 1]));
        assert!(cache.get("large").is_none() && cache.get("a").is_some());
    }
}
