//! Keeps passwords in a plan out of the results.

use reference::{
    configuration_without_passwords, hidden, setting_without_passwords, without_passwords,
};

use crate::count::OwnStatements;
use crate::plan::Plan;

impl Plan {
    /// The plan's text with passwords hidden. It is otherwise the same plan; if something had to be
    /// hidden, it is rewritten without comments.
    pub fn text_without_passwords(&self) -> String {
        let hidden = hide(self);
        if hidden == *self && without_passwords(&self.text) == self.text {
            self.text.clone()
        } else {
            without_passwords(&hidden.to_toml())
        }
    }
}

fn hide(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let hide = |text: &mut String| *text = without_passwords(text);
    hide(&mut plan.name);
    for variant in &mut plan.variants {
        variant.dbms = hidden(&variant.dbms);
        variant.initdb.iter_mut().for_each(hide);
        for (name, value) in &mut variant.config {
            *value = setting_without_passwords(name, value);
        }
        if let Some(text) = &mut variant.config_text {
            *text = configuration_without_passwords(text);
        }
        if let Some(build) = &mut variant.build {
            build.configure.iter_mut().for_each(hide);
            build.cflags.iter_mut().chain(&mut build.compiler).for_each(hide);
        }
    }
    plan.workload.family_mut().commands().into_iter().for_each(hide_words);
    // Whatever hiding has made unreadable is left out entirely.
    plan.count.file_text = plan.count.file_text.take().map(|text| without_passwords(&text));
    plan.count.file_text.take_if(|text| OwnStatements::parse(text).is_err());
    plan
}

/// Hides passwords in a command line. A quote that ends a word ends the password in it, too.
fn hide_words(command: &mut String) {
    let words = shlex::split(command).unwrap_or_default();
    let hidden: Vec<String> = words.iter().map(|word| without_passwords(word)).collect();
    if hidden != words
        && let Ok(text) = shlex::try_join(hidden.iter().map(String::as_str))
    {
        *command = text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkloadPlan;
    use proptest::prelude::*;

    const PLAN: &str =
        "# a comment\nname = \"a\"\n[variants.a]\ndbms = \"DBMS\"\nCONFIG\n[workload.insert]\n";

    fn plan(dbms: &str, config: &str) -> String {
        PLAN.replace("DBMS", dbms).replace("CONFIG", config)
    }

    fn plan_without_passwords(text: &str) -> String {
        Plan::parse(text, None, "x").unwrap().text_without_passwords()
    }

    #[test]
    fn a_plan_remains_one() {
        let harmless = plan("postgres@14.3", "config = { work_mem = \"1MB\" }");
        assert_eq!(plan_without_passwords(&harmless), harmless);
        let text = plan(
            "postgres://me:s3cret@h/d",
            "config = { primary_conninfo = \"password='s3cret'\", work_mem = \"1MB\", \"x.y\" = 'password=s3cret' }\n\
             config_text = \"\"\"\nwork_mem = 1MB # s\nPrimary_conninfo 'password=''s3cret'' '\nx.y = 'password = s3cret'\n\
             # password=s3cret\n\"\"\"\ninitdb = [\"--x=password=s3cret\"]",
        );
        let hidden = plan_without_passwords(&text);
        assert!(!hidden.contains("s3cret"), "{hidden}");
        let read = Plan::parse(&hidden, None, "x").unwrap();
        let variant = &read.variants[0];
        assert_eq!(variant.dbms, "postgres://me@h/d");
        assert_eq!(variant.config["work_mem"], "1MB");
        assert_eq!(
            variant.config_text.as_deref(),
            Some(
                "work_mem = 1MB # s\nPrimary_conninfo = '<hidden>'\nx.y = '<hidden>'\n# password=<hidden>\n"
            )
        );
        assert_eq!(plan_without_passwords(&hidden), hidden);
        // Also where nothing but a comment has one.
        let comment = harmless.replace("a comment", "PASSWORD = 's3 cret'");
        assert!(!plan_without_passwords(&comment).contains("cret"));
    }

    #[test]
    fn a_password_inside_another_text_is_hidden_too() {
        let program = "[workload.program]\ninit = \"psql 'host=h password=s3cret'\"\n\
                       command = \"mysql --password=s3cret\"\n";
        let text = plan("host=h user=me dbname='postgres://me:s3cret@h/d'", "")
            .replace("[workload.insert]\n", program);
        let hidden = plan_without_passwords(&text);
        assert!(!hidden.contains("s3cret"), "{hidden}");
        let read = Plan::parse(&hidden, None, "x").unwrap();
        assert_eq!(read.variants[0].dbms, "host=h user=me dbname='postgres://me@h/d'");
        let WorkloadPlan::Program(program) = read.workload else { panic!("{hidden}") };
        assert_eq!(program.all.words(), ["mysql", "--password=<hidden>"]);
        assert_eq!(plan_without_passwords(&hidden), hidden);
    }

    proptest! {
        #[test]
        fn no_form_survives(
            password in "[QXZ]{4}[QXZ '\"\\\\&;=,@:/?#%}]{0,6}[QXZ]{4}",
            key in "(password|PassWord|sslpassword|PGPASSWORD)",
            sign in "(=| = |=\\t|  =)",
        ) {
            let toml = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
            let value = format!("'{}'", password.replace('\\', "\\\\").replace('\'', "\\'"));
            let code: String = password.bytes().map(|b| format!("%{b:02X}")).collect();
            let text = plan(
                &toml(&format!("postgres://me:{code}@h/d")),
                &format!("config = {{ \"x.y\" = \"{0}\", \"a.password\" = \"{0}\" }}", toml(&format!("{key}{sign}{value}"))),
            );
            prop_assert!(Plan::parse(&text, None, "x").is_ok(), "{text}");
            let hidden = plan_without_passwords(&text);
            prop_assert!(!["Q", "X", "Z", "%5"].iter().any(|part| hidden.contains(part)), "{text} → {hidden}");
            prop_assert!(Plan::parse(&hidden, None, "x").is_ok(), "{hidden}");
            prop_assert_eq!(plan_without_passwords(&hidden), hidden.clone());
            // The store hides once more.
            prop_assert_eq!(without_passwords(&hidden), hidden.clone());
        }

        #[test]
        fn a_comment_changes_no_plan(text in "(password|://|[ =:'\"$\\\\@?&%é])*") {
            let whole = plan("postgres@14.3", "config = { work_mem = \"1MB\" }");
            let hidden = plan_without_passwords(&whole.replace("a comment", &text));
            prop_assert_eq!(without_passwords(&hidden), hidden.clone(), "hiding twice");
            let read = Plan::parse(&hidden, None, "x").unwrap();
            let variant = &read.variants[0];
            prop_assert_eq!((&*variant.dbms, &*variant.config["work_mem"]), ("postgres@14.3", "1MB"));
        }
    }
}
