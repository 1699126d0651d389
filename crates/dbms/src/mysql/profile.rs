//! The functions for reading a profile of mysqld or mariadbd.

use crate::{EXECUTE, LeftOut, ProfileFacts};

/// The work of a client's thread. The names are those of MySQL 5.6 to 8.0 and MariaDB 10.1 to 11.4,
/// whose binaries have them in their symbol tables, or at least as dynamic symbols.
///
/// Opening tables is a phase of its own: it is neither resolving nor optimizing, and with prepared
/// statements it is most of the work before execution. `execute` is the statement's own work on
/// rows; a point query of InnoDB reads its row while it is optimized (table `const`).
pub static PROFILE: ProfileFacts = ProfileFacts {
    worker: "do_command",
    dispatchers: &[
        "dispatch_command",
        "dispatch_sql_command",
        "mysql_parse",
        "mysqld_stmt_execute",
        "mysql_stmt_execute_common",
        "Prepared_statement::execute_loop",
        "Prepared_statement::execute",
        "mysql_execute_command",
        "execute_sqlcom_select",
        "handle_query",
        "handle_select",
        "mysql_select",
        "mysql_execute_select",
        "mysql_insert",
        "mysql_update",
        "mysql_delete",
        "SELECT_LEX::optimize",
        "SELECT_LEX_UNIT::optimize",
        "st_select_lex::optimize",
        "st_select_lex_unit::optimize",
        "Query_block::optimize",
        "Query_expression::optimize",
        "SELECT_LEX_UNIT::execute",
        "st_select_lex_unit::execute",
        "Query_expression::execute",
        "Sql_cmd_dml::execute",
        "Sql_cmd_dml::execute_inner",
        "Sql_cmd_insert::execute",
        "Sql_cmd_insert::mysql_insert",
        "Sql_cmd_insert_values::execute_inner",
        "Sql_cmd_update::execute",
        "Sql_cmd_update::execute_inner",
        "Sql_cmd_update::try_single_table_update",
        "Sql_cmd_update::update_single_table",
        "Sql_cmd_delete::execute",
        "Sql_cmd_delete::execute_inner",
        "Sql_cmd_delete::mysql_delete",
        "Sql_cmd_delete::delete_from_single_table",
    ],
    phases: &[
        ("parse", &["parse_sql", "MYSQLparse", "ORAparse", "THD::sql_parser", "lex_start"]),
        (
            "open",
            &["open_", "lock_tables", "mysql_lock_tables", "lock_external", "mysql_handle_derived"],
        ),
        (
            "resolve",
            &[
                "JOIN::prepare",
                "SELECT_LEX::prepare",
                "SELECT_LEX_UNIT::prepare",
                "st_select_lex::prepare",
                "st_select_lex_unit::prepare",
                "Query_block::prepare",
                "Query_expression::prepare",
                "Sql_cmd_dml::prepare",
                "Sql_cmd_select::prepare_inner",
                "Sql_cmd_insert_base::prepare_inner",
                "Sql_cmd_insert_base::mysql_prepare_insert",
                "Sql_cmd_update::prepare_inner",
                "Sql_cmd_delete::prepare_inner",
                "Sql_cmd_delete::mysql_prepare_delete",
                "mysql_prepare_",
                "setup_",
            ],
        ),
        ("optimize", &["JOIN::optimize", "SQL_SELECT::test_quick_select", "test_quick_select"]),
        (
            "execute",
            &[
                "JOIN::exec",
                "JOIN::init_execution",
                "st_select_lex_unit::exec",
                "SELECT_LEX_UNIT::ExecuteIteratorQuery",
                "Query_expression::ExecuteIteratorQuery",
                "write_record",
                "Write_record",
                "fill_record",
                "handler::",
                "ha_innobase::",
                "myrocks::",
                "READ_RECORD",
                "rr_",
                "init_read_record",
                "init_table_iterator",
                "join_read_",
                "RowIterator",
                "TableScanIterator",
                "IndexRangeScanIterator",
                "QUICK_RANGE_SELECT::",
                "compare_record",
                "records_are_comparable",
            ],
        ),
        ("commit", &["trans_", "ha_commit_trans", "MYSQL_BIN_LOG::", "THD::binlog"]),
        (
            "protocol",
            &[
                "Protocol",
                "THD::send_",
                "net_",
                "my_net_",
                "select_send::",
                "Query_result_send::",
                "vio_",
            ],
        ),
    ],
    named: "parse_sql, open_tables, JOIN::prepare or Query_block::prepare, JOIN::optimize, \
        JOIN::exec or ExecuteIteratorQuery or write_record, trans_commit, Protocol",
    renamed: &[
        // Since MySQL 8.0.
        ("st_select_lex::prepare", "Query_block::prepare"),
        ("SELECT_LEX::prepare", "Query_block::prepare"),
        ("st_select_lex::optimize", "Query_block::optimize"),
        ("SELECT_LEX::optimize", "Query_block::optimize"),
        ("st_select_lex_unit::prepare", "Query_expression::prepare"),
        ("SELECT_LEX_UNIT::prepare", "Query_expression::prepare"),
        ("st_select_lex_unit::execute", "Query_expression::execute"),
        ("SELECT_LEX_UNIT::execute", "Query_expression::execute"),
        ("st_select_lex_unit::optimize", "Query_expression::optimize"),
        ("SELECT_LEX_UNIT::optimize", "Query_expression::optimize"),
        ("SELECT_LEX_UNIT::ExecuteIteratorQuery", "Query_expression::ExecuteIteratorQuery"),
        // Since MySQL 8.0.22.
        ("mysql_parse", "dispatch_sql_command"),
        ("Sql_cmd_update::try_single_table_update", "Sql_cmd_update::update_single_table"),
        ("Sql_cmd_delete::mysql_delete", "Sql_cmd_delete::delete_from_single_table"),
        ("Sql_cmd_insert::mysql_insert", "Sql_cmd_insert_values::execute_inner"),
    ],
};

/// What wakes the threads of simulated I/O, which counting needs: native I/O has nothing to wake.
pub(super) const LEFT_OUT: &[LeftOut] = &[LeftOut {
    function: "os_aio_simulated_wake_handler_threads",
    phase: Some(EXECUTE),
    with: &["AIO::wake_simulated_handler_thread", "os_aio_simulated_wake_handler_thread"],
}];

/// The phases of a statement for Callgrind, with full function names without parameters: see
/// [`CountMethod::phases`](crate::CountMethod).
pub(super) const COUNTED: &[(&str, &[&[&str]])] = &[
    ("parse", &[&["parse_sql"], &["THD::sql_parser"], &["MYSQLparse"]]),
    (
        "open",
        &[
            &["open_and_lock_tables"],
            &["open_tables_for_query", "open_normal_and_derived_tables"],
            &["open_tables"],
        ],
    ),
    (
        "resolve",
        &[
            &["JOIN::prepare"],
            &["SELECT_LEX::prepare", "st_select_lex::prepare", "Query_block::prepare"],
            &["Sql_cmd_insert_base::prepare_inner", "Sql_cmd_insert_values::prepare_inner"],
            &["mysql_prepare_insert", "Sql_cmd_insert_base::mysql_prepare_insert"],
            &["mysql_prepare_update", "Sql_cmd_update::prepare_inner"],
            &[
                "mysql_prepare_delete",
                "Sql_cmd_delete::mysql_prepare_delete",
                "Sql_cmd_delete::prepare_inner",
            ],
        ],
    ),
    (
        "optimize",
        &[
            &["JOIN::optimize"],
            &["Query_expression::optimize", "SELECT_LEX_UNIT::optimize"],
            &["SQL_SELECT::test_quick_select", "test_quick_select"],
        ],
    ),
    (
        EXECUTE,
        &[
            &[
                "JOIN::exec",
                "Query_expression::ExecuteIteratorQuery",
                "SELECT_LEX_UNIT::ExecuteIteratorQuery",
            ],
            &[
                "fill_record_n_invoke_before_triggers",
                "write_record",
                "Write_record::write_record",
                // Finding rows, and changing them.
                "handler::multi_range_read_next",
                "handler::ha_update_row",
                "handler::ha_delete_row",
            ],
        ],
    ),
    ("commit", &[&["trans_commit_stmt"], &["ha_commit_trans"]]),
    // Rows are sent while they are found; this is the end of the reply.
    ("protocol", &[&["Protocol::end_statement", "THD::send_statement_status"]]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_dispatcher_is_a_phase() {
        for dispatcher in PROFILE.dispatchers {
            for (phase, beginnings) in PROFILE.phases {
                let taken = beginnings.iter().any(|begin| dispatcher.starts_with(begin));
                assert!(
                    !taken || *dispatcher == "st_select_lex_unit::execute",
                    "{dispatcher} {phase}"
                );
            }
        }
    }
}
