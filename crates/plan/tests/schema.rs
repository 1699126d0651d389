//! The schema of plans, and what the documentation says of keys: both come from the reader.
//! `GOLDEN=update` writes them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Compares a file with what it should be, or writes it.
fn golden(path: &str, expected: &str) {
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "update") {
        fs::write(root(path), expected).unwrap();
    }
    let found = fs::read_to_string(root(path)).unwrap_or_default();
    assert!(found == expected, "{path} differs from the keys of plans; GOLDEN=update writes it");
}

#[test]
fn the_schema_is_that_of_the_reader() {
    golden("docs/plan.schema.json", &format!("{:#}\n", plan::schema()));
}

/// Every table of keys in the documentation has the keys of the section that it is in.
#[test]
fn the_tables_of_keys_are_those_of_the_reader() {
    let text = fs::read_to_string(root("docs/plans.md")).unwrap();
    let schema = plan::schema();
    let properties = |pointer: &str| schema.pointer(pointer).unwrap()["properties"].clone();
    let mut documented = 0;
    let (mut out, mut section, mut inside) = (String::new(), json!(null), false);
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let name = heading.trim_matches('`').trim_matches(['[', ']']);
            section = match name.split_once('.') {
                _ if heading == "Top level" => properties(""),
                Some(("variants", _)) => properties("/properties/variants/additionalProperties"),
                Some(("workload", name)) => {
                    properties(&format!("/properties/workload/properties/{name}"))
                }
                _ if name == "count" => properties("/properties/count"),
                _ => json!(null),
            };
        }
        if line.starts_with("| key of `build` |") {
            section = properties("/properties/variants/additionalProperties/properties/build");
        }
        if line.starts_with("| key ") && line.contains("| default | meaning |") {
            inside = true;
            documented += 1;
            out += &format!("{line}\n|---|---|---|\n");
            for (name, key) in section.as_object().expect(line) {
                out += &row(name, key);
            }
        }
        inside &= line.starts_with('|');
        if !inside {
            out += &format!("{line}\n");
        }
    }
    assert_eq!(documented, 4 + plan::WorkloadPlan::all().len());
    golden("docs/plans.md", &out);
}

fn row(name: &str, key: &Value) -> String {
    let text = key["description"].as_str().unwrap_or_default();
    if name == "variants" || name == "workload" || name == "count" {
        return String::new();
    }
    let (meaning, usual) = text.split_once("\n\nDefault: ").unwrap_or((text, ""));
    let unit = key["x-unit"].as_str().map_or_else(String::new, |unit| format!(" {unit}"));
    let usual = match &key["default"] {
        _ if !usual.is_empty() => usual.to_owned(),
        Value::Null => "none".to_owned(),
        Value::Number(number) => format!("{number}{unit}"),
        Value::Bool(value) => value.to_string(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Object(table) if table.is_empty() => "none".to_owned(),
        value => format!("`{}`", value.to_string().replace(',', ", ")),
    };
    assert!(!meaning.is_empty(), "{name} has no meaning");
    format!("| `{name}` | {usual} | {meaning} |\n")
}

/// The places where a value breaks its schema, by the rules that this schema uses.
fn wrong(schema: &Value, value: &Value, path: &str) -> Option<String> {
    let kind = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        _ => "integer",
    };
    let fits = |named: &Value| named == kind || named == "number" && kind == "integer";
    let of_kind = match &schema["type"] {
        Value::Null => true,
        Value::Array(several) => several.iter().any(fits),
        one => fits(one),
    };
    let listed = |list: &Value| list.as_array().is_none_or(|list| list.contains(value));
    let number = value.as_f64();
    let bound = |key: &str, ok: fn(f64, f64) -> bool| {
        number.zip(schema[key].as_f64()).is_none_or(|(number, bound)| ok(number, bound))
    };
    let of_any = |any: &Vec<Value>| any.iter().any(|one| wrong(one, value, path).is_none());
    if !of_kind
        || !listed(&schema["enum"])
        || !bound("minimum", |number, bound| number >= bound)
        || !bound("maximum", |number, bound| number <= bound)
        || !schema["anyOf"].as_array().is_none_or(of_any)
    {
        return Some(format!("{path}: {value}"));
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        let known = schema["properties"].get(key);
        match known.or_else(|| schema.get("additionalProperties")) {
            Some(Value::Bool(false)) => return Some(format!("{path}: unknown")),
            Some(schema) => {
                if let Some(wrong) = wrong(schema, value, &path) {
                    return Some(wrong);
                }
            }
            None => {}
        }
    }
    let items = value.as_array().into_iter().flatten();
    items.filter_map(|item| wrong(&schema["items"], item, path)).next()
}

#[test]
fn the_schema_takes_what_the_reader_takes() {
    let schema = plan::schema();
    let mut count = 0;
    for folder in ["plans", "crates/plan/tests/fixtures/good"] {
        for entry in fs::read_dir(root(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = fs::read_to_string(&path).unwrap();
                for text in [plan::Plan::read(&path).unwrap().to_toml(), text] {
                    let table: toml::Table = text.parse().unwrap();
                    assert_eq!(wrong(&schema, &json!(table), ""), None, "{}", path.display());
                }
                count += 1;
            }
        }
    }
    assert!(count >= 8);
    for workload in plan::WorkloadPlan::all() {
        let keys = &schema["properties"]["workload"]["properties"][workload.name()]["properties"];
        for option in workload.options() {
            assert!(keys[option.key].is_object(), "{} {}", workload.name(), option.name);
        }
    }
    for (text, expected) in [
        ("bloks = 3", ".bloks: unknown"),
        ("blocks = 0", ".blocks: 0"),
        ("pairing = 'stripes'", ".pairing: \"stripes\""),
        ("[workload.insert]\nsteps = ['l.y']", ".workload.insert.steps: \"l.y\""),
        ("[workload.insert]\ndop = [0]", ".workload.insert.dop: [0]"),
        ("[variants.a]\ntwin = 'b'", ".variants.a.twin: unknown"),
    ] {
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(wrong(&schema, &json!(table), "").as_deref(), Some(expected));
    }
}
