//! Slowdowns of about 1%, each in another function, before the gate.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use testing::repository::git;

use super::gates;
use super::history::{EMAIL, Slowed, commit_slowed, tag};
use super::search::{KIND, Search};
use crate::steelyard::Steelyard;

/// A function that each statement of 100 rows calls, and where its loop goes.
struct Planted {
    function: &'static str,
    slowed: Slowed,
}

const fn planted(
    function: &'static str,
    file: &'static str,
    before: &'static str,
    rounds: u32,
) -> Planted {
    Planted { function, slowed: Slowed { file, before, rounds } }
}

/// Rounds in a function that is called for each row, and those of one that is called twice.
const ROW: u32 = 77;
const TWICE: u32 = ROW / 2;
/// Rounds in one that is called once.
const STATEMENT: u32 = 100 * ROW;

/// Functions that are called from other files, so that no compiler makes them a part of another.
const PLANTED: [Planted; 10] = [
    planted(
        "heap_insert",
        "src/backend/access/heap/heapam.c",
        "\t/* Cheap, simplistic check that the tuple matches the rel's rowtype. */\n",
        ROW,
    ),
    planted(
        "_bt_doinsert",
        "src/backend/access/nbtree/nbtinsert.c",
        "\t/* we need an insertion scan key to do our search, so build one */\n",
        ROW,
    ),
    planted(
        "ExecInsertIndexTuples",
        "src/backend/executor/execIndexing.c",
        "\tAssert(ItemPointerIsValid(tupleid));\n",
        ROW,
    ),
    planted(
        "heap_form_tuple",
        "src/backend/access/common/heaptuple.c",
        "\tif (numberOfAttributes > MaxTupleAttributeNumber)\n",
        ROW,
    ),
    planted(
        "XLogInsertRecord",
        "src/backend/access/transam/xlog.c",
        "\t/* we assume that all of the record header is in the first chunk */\n",
        TWICE,
    ),
    planted(
        "PageAddItemExtended",
        "src/backend/storage/page/bufpage.c",
        "\t/*\n\t * Be wary about corrupted page pointers\n\t */\n",
        TWICE,
    ),
    planted(
        "raw_parser",
        "src/backend/parser/parser.c",
        "\t/* initialize the flex scanner */\n",
        STATEMENT,
    ),
    planted(
        "parse_analyze_fixedparams",
        "src/backend/parser/analyze.c",
        "\tAssert(sourceText != NULL); /* required as of 8.4 */\n",
        STATEMENT,
    ),
    planted(
        "create_plan",
        "src/backend/optimizer/plan/createplan.c",
        "\t/* plan_params should not be in use in current query level */\n",
        STATEMENT,
    ),
    planted(
        "PortalStart",
        "src/backend/tcop/pquery.c",
        "\tAssertArg(PortalIsValid(portal));\n",
        STATEMENT,
    ),
];

/// What the gate said of a change.
struct Said {
    rise: String,
    seconds: u64,
}

/// Judges each, beside the released source, of which the counts are kept; says how that went.
pub fn slowdowns(steelyard: &Steelyard, search: &Search<'_>) -> Result<String> {
    let mut said = Vec::new();
    let baselines = baselines(search);
    if baselines.exists() {
        fs::remove_dir_all(&baselines)?;
    }
    for it in &PLANTED {
        plant(&search.tree, it)?;
        said.push(judge(steelyard, search, it)?);
    }
    let mut rises: Vec<&str> = said.iter().map(|it| it.rise.as_str()).collect();
    rises.sort_unstable();
    let seconds = || said.iter().map(|it| it.seconds);
    Ok(format!(
        "Each of {} changes puts a loop into another function ({} to {} of the instructions). The gate \
         failed on each, with the function first in its comment, and its line annotated. They took \
         {} to {} s; the first one also counts the commit before, which is kept.",
        PLANTED.len(),
        rises.first().unwrap_or(&""),
        rises.last().unwrap_or(&""),
        seconds().min().unwrap_or(0),
        seconds().max().unwrap_or(0),
    ))
}

fn baselines(search: &Search<'_>) -> PathBuf {
    search.results.with_extension("baselines")
}

fn branch(function: &str) -> String {
    format!("slower-{function}")
}

/// Makes a branch with the change, off the released source, unless it is there already.
fn plant(tree: &Path, planted: &Planted) -> Result<()> {
    let branch = branch(planted.function);
    if git(tree, EMAIL, &["branch", "--list", &branch])?.trim().is_empty() {
        git(tree, EMAIL, &["checkout", "--quiet", "--detach", &tag(0)])?;
        commit_slowed(tree, &planted.slowed)?;
        git(tree, EMAIL, &["branch", &branch])?;
    }
    Ok(())
}

fn judge(steelyard: &Steelyard, search: &Search<'_>, planted: &Planted) -> Result<Said> {
    let (function, head) = (planted.function, branch(planted.function));
    let lines = search.results.with_extension("lines");
    let [kept, written] = [&baselines(search), &lines].map(|it| it.display().to_string());
    let more = ["--baselines", &kept, "--annotations", &written];
    let (code, comment, seconds) = gates::judge(steelyard, search, [&tag(0), &head], &more)?;
    let start = format!("- **regression** {KIND} (simple): ");
    let line = comment.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default();
    let (rise, functions) =
        line.split_once(" more instructions per statement; ").unwrap_or_default();
    let named = functions.replace('\\', "");
    ensure!(
        code == Some(1) && named.split([' ', ',']).next() == Some(function),
        "expected {function} first, found {code:?} and {comment}"
    );
    let annotated = fs::read_to_string(&lines)?;
    let place = format!("::error file={},line=", planted.slowed.file);
    let number = annotated.strip_prefix(&place).and_then(|rest| rest.split(',').next());
    let number: usize = number.context("no annotation")?.parse()?;
    let text = git(&search.tree, EMAIL, &["show", &format!("{head}:{}", planted.slowed.file)])?;
    // Its code begins after its parameters.
    let begins = text.lines().skip(number.saturating_sub(8)).take(8);
    ensure!(
        begins.into_iter().any(|line| line.starts_with(&format!("{function}("))),
        "expected the line of {function}, found {annotated}"
    );
    Ok(Said { rise: rise.to_owned(), seconds })
}
