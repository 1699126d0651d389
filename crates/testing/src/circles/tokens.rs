//! Rust source as tokens, without parts that import nothing: comments, characters, attributes,
//! tests.

/// The texts, words and signs of a source; `::` is one sign.
pub fn tokens(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (token, after) = rest.split_at(length(rest, first));
        let comment = token.starts_with("//") || token.starts_with("/*");
        if !comment && first != '\'' && !first.is_whitespace() {
            found.push(token);
        }
        rest = after;
    }
    found
}

/// The length of the token at the beginning of a text.
fn length(text: &str, first: char) -> usize {
    let past = |from: usize, end: &str| {
        text[from..].find(end).map_or(text.len(), |at| from + at + end.len())
    };
    let word = |from: usize| {
        let after = text[from..].trim_start_matches(|c: char| c == '_' || c.is_alphanumeric());
        text.len() - after.len()
    };
    if let Some(raw) = text.strip_prefix("br").or_else(|| text.strip_prefix('r')) {
        let quote = raw.trim_start_matches('#');
        if quote.starts_with('"') {
            let hashes = "#".repeat(raw.len() - quote.len());
            return past(text.len() - quote.len() + 1, &format!("\"{hashes}"));
        }
    }
    match first {
        '/' if text.starts_with("//") => past(2, "\n"),
        '/' if text.starts_with("/*") => past(2, "*/"),
        ':' if text.starts_with("::") => 2,
        '"' => quoted(text),
        '\'' => match text[1..].chars().next() {
            Some('\\') => quoted(text),
            Some(c) if text[1 + c.len_utf8()..].starts_with('\'') => 2 + c.len_utf8(),
            // A lifetime.
            _ => word(1),
        },
        _ => word(0).max(first.len_utf8()),
    }
}

/// The length of a text that ends with its first character, such as a quotation mark.
fn quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != bytes[0] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    text.len().min(at + 1)
}

/// True if a token is a name or a keyword.
pub fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first == '_' || first.is_alphabetic()) && !token.contains('"')
}

/// How many tokens a group takes that begins with a bracket.
pub fn group(tokens: &[&str]) -> usize {
    let mut depth = 0;
    let last = tokens.iter().position(|token| {
        depth += deeper(token);
        depth == 0
    });
    last.map_or(tokens.len(), |last| last + 1)
}

fn deeper(token: &str) -> i32 {
    match token {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

/// The tokens outside attributes and items for tests. Attributes that name a file (`path`) stay.
pub fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let [first, after @ ..] = rest {
        let attribute = if *first == "#" { 1 + group(after) } else { 0 };
        let length = match after {
            _ if attribute == 0 => 1,
            ["[", "cfg", "(", "test", ..] | ["[", "cfg", "(", "all", "(", "test", ..] => {
                attribute + item(&rest[attribute..])
            }
            _ => attribute,
        };
        if attribute == 0 || after.starts_with(&["[", "path"]) {
            kept.extend_from_slice(&rest[..length]);
        }
        rest = &rest[length..];
    }
    kept
}

/// How many tokens an item takes, with its other attributes.
fn item(tokens: &[&str]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        depth += deeper(token);
        match *token {
            _ if depth < 0 => return at,
            ";" | "}" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}
