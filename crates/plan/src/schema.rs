//! The JSON schema of plans, made from the keys that the reader knows.

use serde_json::{Map, Value as Json, json};

use crate::count::CountPlan;
use crate::key::{Keyed, object};
use crate::keys::Shared;
use crate::plan::{Plan, Variant};
use crate::workloads::WorkloadPlan;

/// The JSON schema of plans (draft 7), with which editors complete and check them. A key's
/// `description` is its meaning, and after an empty line its default where that is no value;
/// `x-unit` is the unit of numbers.
pub fn schema() -> Json {
    let section = |workload: &mut WorkloadPlan| {
        (workload.name().to_owned(), object(workload.family_mut().keys()))
    };
    let workloads: Map<String, Json> = WorkloadPlan::all().iter_mut().map(section).collect();
    let (mut plan, mut shared, mut variant) = Default::default();
    let mut variants = object(Variant::keys(&mut variant));
    variants["required"] = json!(["dbms"]);
    let mut keys = Plan::keys(&mut plan);
    keys.extend(Shared::keys(&mut shared));
    let mut schema = object(keys);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("A plan of steelyard");
    schema["required"] = json!(["variants", "workload"]);
    schema["properties"]["variants"] = json!({
        "description": "the systems to compare, a table for each; the first is the base",
        "type": "object",
        "minProperties": 1,
        "additionalProperties": variants,
    });
    schema["properties"]["workload"] = json!({
        "description": "what they run, one of these",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "properties": workloads,
        "additionalProperties": false,
    });
    schema["properties"]["count"] = object(CountPlan::default().keys());
    schema["properties"]["count"]["description"] = json!("what `steelyard count` counts");
    schema
}
