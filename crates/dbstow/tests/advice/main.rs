//! A recorded server, replayed and advised.

mod advise;
mod advise_articles;
mod finalists;
mod licences;
mod questions;
mod quiet;
mod replay;
mod services;
mod verify;
mod web;
