//! The declaration of a metric.

use crate::words::Words;

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// A throughput: more of it is an improvement.
    More,
    /// A cost: more of it is a regression.
    Less,
    /// It describes the step or the machine, and can't be judged.
    Neither,
}

impl Better {
    /// The word used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::Neither => "neither",
        }
    }
}

/// A metric stored with a step, or a family of metrics: its name then has a part in braces.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// The name under which it is stored.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Which direction is better.
    pub better: Better,
    /// Its meaning, as shown in legends.
    pub meaning: &'static str,
    /// Words for a difference: "uses 5% more …".
    pub words: Words,
    /// True if every step should have it. Others describe paced streams or classes of statements
    /// that only some steps have.
    pub everywhere: bool,
    /// Its name in published insert benchmark reports; empty if they don't have it.
    pub published: &'static str,
}

impl Metric {
    /// Name of the member of a family: `P99.of("query")`.
    pub fn of(&self, member: &str) -> String {
        let (before, after) = self.around();
        format!("{before}{member}{after}")
    }

    /// A family's name without the part in braces: `p99`.
    pub fn short(&self) -> &'static str {
        self.around().1.trim_start_matches('.')
    }

    /// True if it stands for one metric per class or event.
    pub fn is_family(&self) -> bool {
        self.name.contains('{')
    }

    /// The class or event in the name of a member of this family.
    pub fn member_in<'a>(&self, name: &'a str) -> Option<&'a str> {
        let (before, after) = self.around();
        // Events of the kernel have a colon: `timer:hrtimer_start`.
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
        let member = name.strip_prefix(before)?.strip_suffix(after)?;
        (self.is_family() && !member.is_empty() && member.chars().all(is_word)).then_some(member)
    }

    /// The name before and after the part in braces.
    fn around(&self) -> (&'static str, &'static str) {
        let after = self.name.split_once('}').map_or("", |(_, after)| after);
        (self.name.split('{').next().unwrap_or_default(), after)
    }

    /// The metric of this name, if it belongs to this family.
    pub(crate) fn member(&self, name: &str) -> Option<Self> {
        let (before, after) = self.around();
        let member = self.member_in(name)?;
        let part = self.name.get(before.len()..self.name.len() - after.len())?;
        let text = |pattern: &str| leaked(pattern.replace(part, member));
        let words = Words { what: text(self.words.what), ..self.words };
        Some(Self { name: text(self.name), meaning: text(self.meaning), words, ..*self })
    }
}

fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}
