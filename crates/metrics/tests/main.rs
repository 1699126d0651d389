//! The documentation matches the declarations.

mod glossary;
