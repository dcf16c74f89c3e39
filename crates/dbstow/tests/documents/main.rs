//! What is written: the documents, their examples, names and words, and the page in a browser.

mod circles;
mod demo;
mod dependencies;
mod documents;
mod examples;
mod page;
mod reference;
mod tidy;
#[cfg(unix)]
mod transcripts;
mod words;
