//! The keys of a plan, each declared once, in the order in which they are written.

use std::collections::BTreeMap;

use crate::duration::format_duration;
use crate::key::{Key, Keyed};
use crate::kind::{self, boolean, choice, string, strings, text, whole};
use crate::plan::{
    BuildPlan, BuildSystem, DEFAULT_PROFILE_SECONDS, DEFAULT_REPEATS, DEFAULT_STEAL_LIMIT,
    Durability, Pairing, Plan, Variant,
};
use crate::share::{any_share, share};

/// More blocks than anyone can run; keeps a typo from filling memory.
const MAX_BLOCKS: u64 = 10_000;
/// A machine on which this many trials in a row are polluted is unfit for measuring.
const MAX_REPEATS: u64 = 100;

const SYSTEMS: [(&str, BuildSystem); 2] =
    [("make", BuildSystem::Make), ("meson", BuildSystem::Meson)];

impl Keyed for Plan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        let budget = self.budget.map(format_duration);
        let designs_itself = self.designs_itself();
        let factor = kind::number(0.0..=1.0, "a factor from 0 to 1");
        let chosen = self.restore_after == self.added_load();
        vec![
            Key::new("name", &mut self.name, string()).usual("name of the workload")
                .means("name of the experiment"),
            Key::new("base", &mut self.base, string()).usual("the first variant")
                .note("the others are compared with it")
                .means("the variant that all others are compared with"),
            Key::whole("blocks", &mut self.blocks, 1..MAX_BLOCKS + 1).written(!designs_itself)
                .note("trials per variant")
                .means("trials per variant; with `insert` and `script`, per variant and number of clients"),
            Key::optional("seed", &mut self.seed, whole(0..1 << 63)).usual("chosen and recorded")
                .note("order of trials, parameters of statements")
                .means("seed for the order of trials and for all parameters"),
            Key::new("margin", &mut self.margin, share()).note("differences up to this share are small")
                .means("δ: differences up to this share count as small"),
            Key::new("settle_seconds_scale", &mut self.settle_seconds_scale, factor)
                .note("factor on the rest after settling, 0 to 1")
                .means("factor for the pause after settling, which is 60 s + 1 s per million rows, at most 1200 s"),
            Key::new("pairing", &mut self.pairing, choice(&Pairing::NAMED))
                .written(self.given.pairing || !designs_itself)
                .note("blocks, slices, frozen or auto")
                .means("how variants are paired: `\"blocks\"`, `\"slices\"`, `\"frozen\"` or `\"auto\"`; see [Slices](#slices)"),
            Key::optional("slice_ms", &mut self.slice_ms, whole(2..10_001))
                .usual("chosen by measurement").unit("ms").note("length of a slice")
                .means("length of a slice in milliseconds, 2 to 10000; not with pairing `\"blocks\"`"),
            Key::optional("restore_after", &mut self.restore_after, string()).written(!chosen)
                .note("loaded once; trials start on a copy")
                .means("last step of the load, such as `\"l.x\"`; see [Loading once](#loading-once)"),
            Key::new("steal_limit", &mut self.steal_limit, any_share()).unless(&DEFAULT_STEAL_LIMIT)
                .note("CPU share a hypervisor may take in a step")
                .means("share of CPU time that a hypervisor may take during a step before the trial is run again; 1: no limit; see [Polluted trials](#polluted-trials)"),
            Key::whole("repeats", &mut self.repeats, 0..MAX_REPEATS + 1).unless(&DEFAULT_REPEATS)
                .note("how often to repeat a polluted trial").means("how often a polluted trial may be run again, 0 to 100"),
            Key::optional("precision", &mut self.precision, share())
                .note("half width of a sufficient interval")
                .means("a step with 6 blocks or more is decided, whatever its verdict, once the half-width of its interval is at most this share"),
            Key::optional("max_blocks", &mut self.max_blocks, whole(1..MAX_BLOCKS + 1))
                .usual("`blocks`; in an adaptive run 4 × `blocks`").note("limit for undecided steps")
                .means("number of blocks after which an adaptive run ends"),
            Key::optional("budget", &mut self.budget, kind::time()).shown(budget)
                .note("no block ends after it")
                .means("no block begins that would probably end later: `\"2h\"` or `\"1h30m\"`"),
            Key::new("renamed", &mut self.renamed, kind::table(string(), "{ OldName = \"NewName\" }"))
                .unless(&BTreeMap::<String, String>::new())
                .note("functions with another name: old = new")
                .means("functions that only have another name in some versions, for profiles and counts: `{ OldName = \"NewName\" }`; some of PostgreSQL's are known"),
            Key::new("drop_page_cache", &mut self.drop_page_cache, boolean()).unless(&false)
                .note("of the data, before each step")
                .means("before each step, write out the data directory's files and drop them from the page cache, except what the server has mapped"),
            Key::new("wait_events", &mut self.wait_events, boolean()).unless(&true)
                .note("look ten times a second at what sessions wait for")
                .means("look ten times a second at what sessions wait for, from a connection of its own; not in slices; costs the server 0.3% of a core"),
            Key::new("profile", &mut self.profile, boolean()).unless(&false)
                .note("perf profiles each step, outside the measured time")
                .means("profile each step's server with perf, outside the measured time, and count its events; see [Profiles](#profiles)"),
            Key::whole("profile_seconds", &mut self.profile_seconds, 1..601).unit("s")
                .unless(&DEFAULT_PROFILE_SECONDS).note("of each profile").means("length of each profile, 1 to 600"),
        ]
    }
}

/// Top-level settings for all variants.
#[derive(Default)]
pub(crate) struct Shared {
    /// As in [`Variant`].
    pub(crate) config: BTreeMap<String, String>,
    /// As in [`Variant`].
    pub(crate) memory_limit: Option<u64>,
    /// As in [`Variant`].
    pub(crate) durability: Option<Durability>,
}

impl Keyed for Shared {
    fn keys(&mut self) -> Vec<Key<'_>> {
        let config = Key::settings("config", &mut self.config);
        vec![
            memory_limit(&mut self.memory_limit),
            durability(&mut self.durability),
            config.means("settings of the server, for all variants"),
        ]
    }
}

impl Keyed for Variant {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::new("dbms", &mut self.dbms, string()).usual("required").means("the system; see below"),
            Key::table("build", &mut self.build)
                .means("options for building from source: `build = { cflags = \"-O3\", compiler = \"clang\", configure = [\"--with-llvm\"] }`"),
            Key::optional("config_file", &mut self.config_file, string())
                .note("its text follows; the file is not read again")
                .means("a file in postgresql.conf format, relative to the plan; settings in `config` override it"),
            Key::optional("config_text", &mut self.config_text, string())
                .usual("that of `config_file`").means("text in the server's format"),
            Key::new("initdb", &mut self.initdb, strings()).unless(&[""; 0])
                .means("further arguments to initdb"),
            memory_limit(&mut self.memory_limit),
            Key::optional("engine", &mut self.engine, string()).note("of a system that has several")
                .means("of MySQL and MariaDB: `\"innodb\"` (the default) or `\"myrocks\"`"),
            durability(&mut self.durability),
            Key::optional("twin_of", &mut self.twin_of, string())
                .note("the same system under a second name")
                .means("name of the variant that this one duplicates; the two must be identical in every setting. `--aa` adds a twin to each variant"),
            Key::settings("config", &mut self.config)
                .means("settings of this variant; they override those for all variants"),
        ]
    }
}

/// The memory limit of a variant, or of all.
fn memory_limit(limit: &mut Option<u64>) -> Key<'_> {
    Key::size("memory_limit", limit)
        .note("of the server, by cgroup")
        .means("memory limit of the server, including page cache, set through a control group: `\"192MB\"`")
}

/// The durability of a variant, or of all.
#[rustfmt::skip] // A table.
fn durability(durability: &mut Option<Durability>) -> Key<'_> {
    Key::optional("durability", durability, choice(&Durability::NAMED))
        .note("of commits: full or relaxed")
        .means("what a commit waits for, on any system: `\"full\"`: for the disk; `\"relaxed\"`: not for the disk, so a crash of the machine (or, with PostgreSQL, of the server) loses about the last second of commits")
}

impl Keyed for BuildPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::optional("cflags", &mut self.cflags, text())
                .usual("`\"-O2 -fno-omit-frame-pointer -g\"`").means("flags of the C compiler"),
            Key::optional("compiler", &mut self.compiler, string()).usual("`\"cc\"`")
                .means("the C compiler, also with a launcher: `\"ccache cc\"`"),
            Key::new("configure", &mut self.configure, strings()).unless(&[""; 0])
                .means("further options for the configure script (`[\"--enable-cassert\"]`) or `meson setup` (`[\"-Dcassert=true\"]`). Options for file locations are rejected"),
            Key::optional("system", &mut self.system, choice(&SYSTEMS)).usual("depends on the source")
                .means("`\"make\"`: the configure script and make, the default if the source has that script; `\"meson\"`: Meson and ninja, which PostgreSQL supports from 16 on"),
        ]
    }
}
