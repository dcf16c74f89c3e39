//! A recorded server, replayed and advised.

mod advise;
mod advise_articles;
mod quiet;
mod replay;
