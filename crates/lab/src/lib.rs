//! Conducts a plan: the room that sees plan, dbms, workload, drive, probe and store together.
