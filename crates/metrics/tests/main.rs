//! What is declared is what the documentation says.

mod glossary;
