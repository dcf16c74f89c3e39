//! A recorded server, replayed and advised.

mod advise;
mod advise_articles;
mod drawn;
mod finalists;
mod licences;
mod machines;
mod quiet;
mod replay;
mod services;
mod verify;
mod web;
