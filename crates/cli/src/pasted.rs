//! Commands in messages, so that they can be pasted into a shell.

/// A command of steelyard with these words and `more`, each quoted where a shell needs that.
pub fn pasted(words: &[&str], more: &[String]) -> String {
    let more = more.iter().map(String::as_str);
    let words: Vec<&str> = ["steelyard"].iter().chain(words).copied().chain(more).collect();
    // Only a NUL can't be quoted, and no argument has one.
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_words_back() {
        let words = ["explain", "probe{dop=4, pinning=colocated}", "--results", "it's here"];
        let read = shlex::split(&pasted(&words, &[])).unwrap();
        assert_eq!(read, [&["steelyard"][..], &words].concat());
        assert_eq!(pasted(&["explain"], &["l.i0".to_owned()]), "steelyard explain l.i0");
    }
}
