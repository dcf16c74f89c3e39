//! Who may read a written file.

/// Who may read a written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// As the user's umask allows, as for every result; no other user can write to it, regardless of the umask.
    Umask,
    /// The user only.
    OwnerOnly,
    /// The user and a group, which can only read.
    Group(u32),
}
