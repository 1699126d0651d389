//! References: texts that name a system under test, such as `postgres@13.7` or
//! `git:~/src/postgres#REL_14_3`. One that names a running server may have a password in it.
//!
//! Only this crate takes references apart. It makes names of variants from them, and hides their
//! passwords, also in other texts.
//!
//! ```
//! let text = "mysql://me:s3cret@db.example/bench";
//! let found: reference::Reference = text.parse()?;
//! let reference::Form::Running(server) = found.form else { panic!("a server") };
//! assert_eq!(server.password.unwrap().reveal(), "s3cret");
//!
//! assert_eq!(reference::variant_name(text), "my-db.example");
//! assert_eq!(reference::hidden(text), "mysql://me@db.example/bench");
//! let said = reference::without_passwords(&format!("`-v {text}` makes no sense"));
//! assert_eq!(said, "`-v mysql://me@db.example/bench` makes no sense");
//! # Ok::<(), reference::ParseError>(())
//! ```

mod hide;
mod image;
mod mysql;
mod name;
mod package;
mod parse;
mod password;
mod postgres;
mod server;
mod source;
mod systems;
mod url;

pub use hide::{
    HIDDEN, configuration_without_passwords, setting_of, setting_without_passwords,
    without_passwords,
};
pub use image::{Image, is_digest};
pub use name::{variant_name, variant_names};
pub use package::Package;
pub use parse::{Form, ParseError, Reference, hidden, in_folder, split_name};
pub use password::{Disclosure, Password, Withheld};
pub use postgres::postgres_socket;
pub use server::{Host, Server, host_and_port};
pub use source::{Repository, SourceTree};
pub use systems::{of_package, url_form};

#[cfg(test)]
mod secrecy;
