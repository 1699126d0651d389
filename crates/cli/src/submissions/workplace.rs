//! A directory for an element's work.

use std::path::Path;

use dbms::Ledger;

/// A directory that the next start on this machine removes if this process is killed.
pub struct Workplace(Option<dbms::Entry>, std::path::PathBuf);

impl Workplace {
    /// A new one for an element, or for all together (0).
    pub fn make(element: u32) -> anyhow::Result<Self> {
        let ledger = Ledger::open_default()?;
        let mut entry = ledger.enter(&format!("element {element}"))?;
        // On a disk of this machine, which a home directory may not be.
        let path = Path::new("/var/tmp").join(format!("steelyard-element-{}", entry.record().id));
        entry.make_directory(&path, 0o700)?;
        Ok(Self(Some(entry), path))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.1
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if let Some(entry) = self.0.take() {
            // Otherwise the next start does it.
            let _ = entry.remove();
        }
    }
}
